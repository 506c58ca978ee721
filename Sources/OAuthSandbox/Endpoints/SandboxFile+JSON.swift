import SQFoundation

extension SandboxFile {
  /// Returns the file as an item of Google Drive v2; the file's size is a JSON string.
  func json(_ address: String, owner: String) -> SandboxJSON {
    let link = address + SandboxEndpoint.driveFile.path + "/" + id
    let json: SandboxJSON = [
      "kind": "drive#file",
      "id": .string(id),
      "etag": .string(etag),
      "selfLink": .string(link),
      "downloadUrl": .string(link + "?alt=media"),
      "title": .string(title),
      "mimeType": .string(contentType),
      "fileSize": .string(String(content.count)),
      "createdDate": .string(Timestamp.internet(created)),
      "modifiedDate": .string(Timestamp.internet(modified)),
      "ownerNames": [.string(owner)],
    ]
    return description.map { json.setting("description", to: .string($0)) } ?? json
  }

  /// Returns the file in Sequencing.com's format for a user's uploaded file.
  func sequencingJSON(owner: String) -> SandboxJSON {
    [
      "Id": .string(id),
      "Name": .string(title),
      "Ext": .string(title.split(separator: ".", maxSplits: 1).dropFirst().joined()),
      "FileType": "Uploaded",
      "FileCategory": "Community Files",
      "FriendlyDesc1": .string(owner),
      "FriendlyDesc2": .string(description ?? ""),
      "Population": "",
      "Sex": "",
      "Size": .integer(content.count),
      "DateAdded": .string(Timestamp.plain(created)),
    ]
  }
}

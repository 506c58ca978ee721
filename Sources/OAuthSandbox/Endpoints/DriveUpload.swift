import SQFoundation

/// The endpoint for a new file's content or, if the path has an ID, new content of an existing
/// file.
///
/// Its address is `/upload/drive/v2/files`.
enum DriveUpload {
  /// The maximum size of a multipart body without the file's content, in bytes.
  static let envelopeBytes = 64 * 1024

  private struct Upload {
    var title: String?
    var description: String?
    var fileName: String?
    var type: String
    var content: Data
  }

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    do throws(APIFault) {
      let (access, old) = try check(request, &sandbox)
      guard !request.hasUnreadBody else { throw APIFault(503, "The body was not read.") }
      let upload = try read(request)
      guard upload.content.count <= sandbox.room(of: access.owner, replacing: old) else {
        throw tooLarge
      }
      guard let old else { return create(upload, access, &sandbox) }
      return try replace(old, upload, access, &sandbox)
    } catch {
      return error.answer
    }
  }

  /// Checks an upload's token, file and length, which are known before its body arrives.
  static func check(
    _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) throws(APIFault) -> (DriveAPI.Access, replaced: SandboxFile?) {
    let method = request.fileID == nil ? "POST" : "PUT"
    let access = try DriveAPI.access(request, [method], &sandbox)
    let old = request.fileID.flatMap { sandbox.drive.file($0, of: access.owner) }
    guard old != nil || request.fileID == nil else { throw .noSuchFile }
    let length = request.header("content-length").flatMap { Int($0) } ?? 0
    guard length <= sandbox.room(of: access.owner, replacing: old) + envelopeBytes else {
      throw tooLarge
    }
    return (access, old)
  }

  private static let tooLarge = APIFault(413, "The drive has no room for this file.")

  // MARK: Reading the body

  private static func read(_ request: SandboxRequest) throws(APIFault) -> Upload {
    guard request.isQueryWellFormed else { throw APIFault(400, "The query is malformed.") }
    let type = request.header("content-type") ?? "application/octet-stream"
    var upload = Upload(type: type, content: request.body)
    if type.mediaType == "multipart/form-data" {
      do throws(MultipartFault) {
        upload = try read(MultipartReader.parts(of: request.body, contentType: type))
      } catch {
        throw APIFault(400, error.message)
      }
    }
    if let title = request.query("title") { upload.title = title }
    if upload.fileName?.isEmpty == true { upload.fileName = nil }
    if let title = upload.title ?? upload.fileName { try DriveMetadata.check(title: title) }
    try DriveMetadata.check(type: upload.type)
    return upload
  }

  /// Reads the file from the part `file`, and its title and description from the parts `title` and
  /// `description`.
  private static func read(_ parts: [MultipartPart]) throws(MultipartFault) -> Upload {
    let files = parts.filter { $0.name == "file" }
    guard files.count == 1, !parts.contains(where: { $0.name != "file" && $0.fileName != nil })
    else { throw MultipartFault("There must be one file, in the part named file.") }
    return Upload(
      title: try text("title", of: parts), description: try text("description", of: parts),
      fileName: files[0].fileName, type: files[0].contentType ?? "application/octet-stream",
      content: files[0].content)
  }

  private static func text(_ name: String, of parts: [MultipartPart]) throws(MultipartFault)
    -> String?
  {
    let found = parts.filter { $0.name == name }
    guard let first = found.first else { return nil }
    guard found.count == 1, let text = String(validating: first.content, as: UTF8.self) else {
      throw MultipartFault("The part \(name) occurs more than once or is not UTF-8.")
    }
    return text
  }

  // MARK: Storing the file

  private static func create(
    _ upload: Upload, _ access: DriveAPI.Access, _ sandbox: inout SandboxState
  ) -> Answer {
    let file = sandbox.drive.add(
      upload.title ?? upload.fileName ?? "Untitled", description: upload.description,
      type: upload.type, content: upload.content, to: access.owner, at: sandbox.now)
    return DriveFiles.created(file, access, sandbox)
  }

  /// Replaces the content of a file.
  ///
  /// The title changes only if the request has a title. The file name in the request is ignored.
  private static func replace(
    _ old: SandboxFile, _ upload: Upload, _ access: DriveAPI.Access,
    _ sandbox: inout SandboxState
  ) throws(APIFault) -> Answer {
    let changed = sandbox.drive.change(old.id, of: access.owner, at: sandbox.now) { file in
      file.replaceContent(upload.content, type: upload.type)
      if let title = upload.title { file.title = title }
      if let description = upload.description { file.description = description }
    }
    guard let changed else { throw .noSuchFile }
    return Answer(json: changed.json(sandbox.address, owner: access.name))
  }
}

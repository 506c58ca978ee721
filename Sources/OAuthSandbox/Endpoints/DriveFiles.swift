import SQFoundation

/// The endpoint that lists a drive's files and adds files without content: `/drive/v2/files`.
enum DriveFiles {
  private static let maximumPageSize = 1000

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    DriveAPI.answer(
      request, ["GET", "HEAD", "POST"], &sandbox
    ) { access, sandbox throws(APIFault) in
      request.isGet
        ? try list(request, access, sandbox) : try create(request, access, &sandbox)
    }
  }

  // MARK: List

  private static func list(
    _ request: SandboxRequest, _ access: DriveAPI.Access, _ sandbox: SandboxState
  ) throws(APIFault) -> Answer {
    let size = try pageSize(request)
    let page = DrivePage(
      sandbox.drive.files(of: access.owner), at: try position(request, access, sandbox),
      size: size)
    func link(_ position: DrivePage.Position?) -> (url: String, token: String?) {
      let token = position.map { DrivePage.token($0, for: access.owner, sandbox) }
      let query = "?maxResults=\(size)" + (token.map { "&pageToken=" + $0 } ?? "")
      return (sandbox.address + SandboxEndpoint.driveFiles.path + query, token)
    }
    var json: SandboxJSON = ["kind": "drive#fileList"]
    var links: [String] = []
    if let next = page.next {
      let (url, token) = link(next)
      json = json.setting("nextPageToken", to: token.map(SandboxJSON.string))
        .setting("nextLink", to: .string(url))
      links.append("<\(url)>; rel=\"next\"")
    }
    if let previous = page.previous { links.append("<\(link(previous).url)>; rel=\"prev\"") }
    links.append("<\(link(nil).url)>; rel=\"first\"")
    links.append("<\(link(page.last).url)>; rel=\"last\"")
    let items = page.items.map { $0.json(sandbox.address, owner: access.name) }
    return Answer(
      headers: [("Link", links.joined(separator: ", "))],
      json: json.setting("items", to: .array(items)))
  }

  private static func pageSize(_ request: SandboxRequest) throws(APIFault) -> Int {
    guard request.isQueryWellFormed else { throw APIFault(400, "The query is malformed.") }
    guard request.query.contains(where: { $0.name == "maxResults" }) else { return 100 }
    guard let size = request.query("maxResults").flatMap({ Int($0) }), size > 0 else {
      throw APIFault(400, "maxResults must be a whole number of at least 1.")
    }
    return min(size, maximumPageSize)
  }

  private static func position(
    _ request: SandboxRequest, _ access: DriveAPI.Access, _ sandbox: SandboxState
  ) throws(APIFault) -> DrivePage.Position? {
    guard request.query.contains(where: { $0.name == "pageToken" }) else { return nil }
    guard let token = request.query("pageToken"),
      let position = DrivePage.position(token, for: access.owner, sandbox)
    else { throw APIFault(400, "pageToken is malformed, too old or another owner's.") }
    return position
  }

  // MARK: Create

  private static func create(
    _ request: SandboxRequest, _ access: DriveAPI.Access, _ sandbox: inout SandboxState
  ) throws(APIFault) -> Answer {
    let metadata = try DriveMetadata(request)
    let file = sandbox.drive.add(
      metadata.title ?? "Untitled", description: metadata.description,
      type: metadata.mimeType ?? "application/octet-stream", content: Data(), to: access.owner,
      at: sandbox.now)
    return created(file, access, sandbox)
  }

  /// Returns the answer 201 with the new file and its address (RFC 9110, section 15.3.2).
  static func created(
    _ file: SandboxFile, _ access: DriveAPI.Access, _ sandbox: SandboxState
  ) -> Answer {
    let location = sandbox.address + SandboxEndpoint.driveFile.path + "/" + file.id
    return Answer(
      status: 201, headers: [("Location", location)],
      json: file.json(sandbox.address, owner: access.name))
  }
}

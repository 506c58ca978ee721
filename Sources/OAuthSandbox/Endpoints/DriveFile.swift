/// The endpoint that serves, changes and deletes one file's metadata: `/drive/v2/files/ID`.
enum DriveFile {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    DriveAPI.answer(
      request, ["GET", "HEAD", "PUT", "DELETE"], &sandbox
    ) { access, sandbox throws(APIFault) in
      let id = request.fileID ?? ""
      switch request.method {
      case "PUT":
        return Answer(json: try change(id, request, access, &sandbox))
      case "DELETE":
        guard sandbox.drive.remove(id, of: access.owner) else { throw .noSuchFile }
        return Answer(status: 204, content: .text(""))
      default:
        guard let file = sandbox.drive.file(id, of: access.owner) else { throw .noSuchFile }
        return Answer(json: file.json(sandbox.address, owner: access.name))
      }
    }
  }

  /// Changes the members that the request contains, and keeps all others.
  private static func change(
    _ id: String, _ request: SandboxRequest, _ access: DriveAPI.Access,
    _ sandbox: inout SandboxState
  ) throws(APIFault) -> SandboxJSON {
    guard sandbox.drive.file(id, of: access.owner) != nil else { throw .noSuchFile }
    let metadata = try DriveMetadata(request)
    let changed = sandbox.drive.change(id, of: access.owner, at: sandbox.now) { file in
      if let title = metadata.title { file.title = title }
      if let description = metadata.description { file.description = description }
      if let type = metadata.mimeType { file.contentType = type }
    }
    guard let changed else { throw .noSuchFile }
    return changed.json(sandbox.address, owner: access.name)
  }
}

public import SQFoundation

extension SandboxServer {
  /// The base address of the drive's API, `/drive/v2`, for the paths `files` and `about`.
  public var driveURL: URL { issuer.appending(path: "/drive/v2") }

  /// The base address for uploads, `/upload/drive/v2`, for the path `files`.
  public var driveUploadURL: URL { issuer.appending(path: "/upload/drive/v2") }

  /// Returns the files in a user's drive, in the order in which they were added.
  public func files(of user: String = SandboxUser.alice.name) -> [SandboxFile] {
    core.withState { $0.openedFiles(of: .user(user)) }
  }

  /// Returns the files in a client's own drive, in the order in which they were added.
  ///
  /// A client without a user, as in the client credentials grant, has such a drive.
  public func files(ofClient id: String) -> [SandboxFile] {
    core.withState { $0.openedFiles(of: .client(id)) }
  }

  /// Adds a file to a user's drive, even if the drive is full.
  @discardableResult
  public func addFile(
    _ title: String, contentType: String = "application/octet-stream", content: Data,
    of user: String = SandboxUser.alice.name
  ) -> SandboxFile {
    core.withState { state in
      state.drive.add(
        title, type: contentType, content: content, to: state.openDrive(of: .user(user)),
        at: state.now)
    }
  }

  /// Replaces the content of a user's file, as if another client of the user had done it.
  ///
  /// Returns the changed file, or `nil` if the user has no file with this ID.
  @discardableResult
  public func replaceContent(
    of id: String, with content: Data, of user: String = SandboxUser.alice.name
  ) -> SandboxFile? {
    core.withState { state in
      state.drive.change(id, of: state.openDrive(of: .user(user)), at: state.now) {
        $0.replaceContent(content, type: $0.contentType)
      }
    }
  }
}

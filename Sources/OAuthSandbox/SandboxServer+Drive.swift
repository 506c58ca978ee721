#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SandboxServer {
  /// `/drive/v2`, the base of the drive: `files` and `about` are below it.
  public var driveURL: URL { issuer.appending(path: "/drive/v2") }

  /// `/upload/drive/v2`, the base of uploads: `files` is below it.
  public var driveUploadURL: URL { issuer.appending(path: "/upload/drive/v2") }

  /// The files of a user, in the order in which they are listed.
  public func files(of user: String = SandboxUser.alice.name) -> [SandboxFile] {
    core.withState { $0.openedFiles(of: .user(user)) }
  }

  /// The files of a client that acts for itself.
  public func files(ofClient id: String) -> [SandboxFile] {
    core.withState { $0.openedFiles(of: .client(id)) }
  }

  /// Adds a file to a user's drive, however full it is.
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

  /// Replaces the content of a user's file, as another client of theirs might at any moment.
  ///
  /// Returns the file as it is now; `nil` when the user has none with this id.
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

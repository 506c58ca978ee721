import Foundation
import TestSupport

/// The user that runs database servers: `postgres` if root runs the tests, because the servers
/// refuse root.
enum ServerUser {
  private static let isOther = geteuid() == 0

  /// Returns a command that runs as this user in a folder.
  static func command(_ command: [String], in folder: TemporaryFolder) -> [String] {
    let change = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    // This user may not be allowed to enter the current folder or root's home.
    return (isOther ? change : []) + ["env", "-C", folder.path, "HOME=\(folder.path)"] + command
  }

  /// The changes of the environment: they remove the user's own settings of libpq, and set `LC_ALL`
  /// and `PATH`.
  static let environment: [String: String?] = {
    let own = ProcessInfo.processInfo.environment
    var changes: [String: String?] = ["LC_ALL": "C.UTF-8"]
    changes["PATH"] = "\(own["PATH"] ?? "/usr/bin:/bin"):/usr/sbin"
    for name in own.keys where name.hasPrefix("PG") { changes[name] = .some(nil) }
    return changes
  }()

  /// Runs a program to its end, or throws if it fails.
  @discardableResult
  static func run(
    _ command: [String], in folder: TemporaryFolder, input: ChildProcess.Input = .none
  ) async throws -> String {
    let result = try await ChildProcess.run(
      self.command(command, in: folder), environment: environment, input: input)
    guard result.status == 0 else {
      throw ChildProcessError(message: "\(command[0]): \(result.errors)\(result.output)")
    }
    return result.output
  }

  /// Creates a private folder of this user.
  static func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try give(folder.path)
    return folder
  }

  /// Writes a private file of this user.
  static func write(_ content: Data, to path: String) throws {
    try content.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try give(path)
  }

  private static func give(_ path: String) throws {
    guard isOther else { return }
    try FileManager.default.setAttributes(
      [.ownerAccountName: "postgres", .groupOwnerAccountName: "postgres"], ofItemAtPath: path)
  }
}

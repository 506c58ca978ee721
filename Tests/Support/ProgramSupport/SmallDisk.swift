import Foundation
import TestSupport

/// A small file system that only a test's processes see, and that is removed with them.
package enum SmallDisk {
  /// The start of a command that runs a program with mounts that other processes cannot see.
  package static let unshare =
    getuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]

  /// Returns whether a test may mount a small disk.
  package static let isAllowed: @Sendable () async throws -> Bool = {
    let folder = try TemporaryFolder()
    return try await ChildProcess.run(
      unshare + ["mount", "-t", "tmpfs", "tmpfs", folder.path]
    ).status == 0
  }

  /// Returns a command that runs while a folder, with its content, is on a disk of some megabytes.
  static func command(_ command: [String], folder: String, megabytes: Int) -> [String] {
    // `unshare` maps the tests' user to root. The command must not run as root, so the user is
    // mapped again.
    let leave = getuid() == 0 ? "" : "unshare --user --map-user=1000 --map-group=1000"
    let script = """
      set -eu
      cp -a "$0" "$0.content"
      mount -t tmpfs -o size=\(megabytes)m,mode=0700 tmpfs "$0"
      chown --reference="$0.content" "$0"
      cp -a "$0.content/." "$0"
      exec \(leave) "$@"
      """
    return unshare + ["sh", "-c", script, folder] + command
  }
}

import Foundation
import TestSupport

/// A small file system that only the processes of a test see, and that goes with them.
package enum SmallDisk {
  /// Runs a command whose mounts no other process sees.
  package static let unshare =
    getuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]

  /// Whether a test may have one.
  package static let isAllowed: @Sendable () async throws -> Bool = {
    let folder = try TemporaryFolder()
    return try await ChildProcess.run(
      unshare + ["mount", "-t", "tmpfs", "tmpfs", folder.path]
    ).status == 0
  }

  /// Runs a command for which a folder with its content is on a disk of some megabytes.
  static func command(_ command: [String], folder: String, megabytes: Int) -> [String] {
    // Without root's rights the command must not seem to be root either.
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

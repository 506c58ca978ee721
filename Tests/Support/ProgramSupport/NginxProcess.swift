import Foundation
import LoopbackSupport
import TestSupport

/// Starts nginx, and defines a line that all nginx configurations of the tests need.
enum NginxProcess {
  /// The line of a configuration that makes nginx's workers run as root if root runs the tests.
  ///
  /// Without this line they would run as the user nobody, who may not read a test's folder.
  static var user: String { geteuid() == 0 ? "user root;" : "" }

  /// Starts nginx with the file `nginx.conf` of a folder.
  ///
  /// nginx inherits the sockets. A shell script starts nginx, and ends it when the script's input
  /// ends, which also happens when the test's process ends.
  static func start(in folder: TemporaryFolder, _ sockets: [BoundSocket]) throws -> ChildProcess {
    let script = """
      exec 9<&0
      (trap '' TERM; cat <&9 >/dev/null; kill -TERM 0) &
      PATH=$PATH:/usr/sbin exec nginx -p "$0" -c nginx.conf -e error.log 9<&-
      """
    // nginx inherits the sockets as its descriptors 3, 4 and so on.
    let descriptors = sockets.indices.map { "\($0 + 3);" }.joined()
    return try ChildProcess(
      ["sh", "-c", script, folder.path], environment: ["NGINX": descriptors],
      sockets: sockets.map(\.descriptor), input: .open)
  }
}

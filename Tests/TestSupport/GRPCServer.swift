import Basics
package import Foundation
package import Testing

/// A gRPC server of Google's grpcio, run for a test on a free port.
///
/// The script that runs it says what it serves.
package final class GRPCServer: Sendable {
  /// Where it is: `http://127.0.0.1:PORT`, or https.
  package let url: URL
  private let process: ChildProcess
  /// How often ``caughtUp()`` was asked for.
  private let marks = Locked(0)

  private init(url: URL, process: ChildProcess) {
    self.url = url
    self.process = process
  }

  /// The script that runs the server.
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../SequencingOAuthGRPCTests/Servers/grpcio/serve").standardized.path

  /// Starts a server; ``stop()`` ends it, and so does letting go of it.
  ///
  /// With certificates it serves over TLS; it asks `userInfo` whose tokens are.
  package static func start(
    certificates: Certificates? = nil, userInfo: URL? = nil, options: [String] = []
  ) async throws -> GRPCServer {
    var command = [script] + options
    if let certificates {
      command += ["--tls", certificates.path("server.pem"), certificates.path("server.key")]
    }
    if let userInfo { command += ["--userinfo", userInfo.absoluteString] }
    let process = try ChildProcess(command, input: .open)
    let port = try await process.line(after: "PORT=")
    guard let url = URL(string: "\(certificates == nil ? "http" : "https")://127.0.0.1:\(port)")
    else { throw ChildProcessError(message: "no port: \(port)") }
    return GRPCServer(url: url, process: process)
  }

  /// Runs a body with a server that ends with it.
  package static func running<Result: Sendable>(
    certificates: Certificates? = nil, userInfo: URL? = nil, options: [String] = [],
    _ body: (GRPCServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(
      certificates: certificates, userInfo: userInfo, options: options)
    return try await stopping({ await server.stop() }) { try await body(server) }
  }

  /// Everything it has said so far, line by line.
  package var lines: [Substring] { process.output.split(separator: "\n") }

  /// How often a method was called, as far as it is known; see ``caughtUp()``.
  package func count(of method: String) -> Int {
    lines.count { $0 == "CALL /grpc.testing.TestService/\(method)" }
  }

  /// Returns when ``lines`` has everything that was said before.
  package func caughtUp() async throws {
    let mark = marks.withLock { count in
      count += 1
      return count
    }
    process.signal(SIGHUP)
    _ = try await process.line(after: "MARK \(mark)")
  }

  /// Waits until it has said a line that starts so.
  @discardableResult
  package func line(after start: String) async throws -> String {
    try await process.line(after: start)
  }

  /// Ends it as a deployment does: calls under way may end, new ones are turned away.
  package func drain() {
    process.signal(SIGUSR1)
  }

  /// Starts another one in the place of one that was drained.
  package func restart() {
    process.signal(SIGUSR2)
  }

  /// Ends it at once, with all its connections.
  package func kill() {
    process.signal(SIGKILL)
  }

  /// Ends it.
  package func stop() async {
    await process.stop()
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test where ``GRPCServer`` cannot run.
  package static var requiresGRPCIO: Self {
    .requires("grpcio for Debian's Python; run Scripts/install test") {
      guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return false }
      return try await ChildProcess.run(["/usr/bin/python3", "-c", "import grpc"]).status == 0
    }
  }
}

package import Foundation
import SQBasics
import TestSupport
package import Testing

/// A gRPC server of Google's grpcio or grpc-go, which a test runs on a free port.
///
/// The source of the program that runs the server describes the methods and the options.
package final class GRPCServer: Sendable {
  /// The programs that run a server.
  package enum Program: Sendable {
    /// Our test methods on grpcio: each one tests a single feature, such as metadata or errors.
    case serve
    /// The service of gRPC's interoperability tests on grpcio; the program handles no signals.
    case interopOnGRPCIO
    /// The service of gRPC's interoperability tests on grpc-go.
    case interopOnGRPCGo

    private static let servers = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Programs/GRPCProgramTests/Servers").standardized

    // The program is built once, in the first test that needs it.
    private static let go = Task { try await GoProgram.build(servers.appending(path: "grpc-go")) }

    fileprivate func path() async throws -> String {
      switch self {
      case .serve: Self.servers.appending(path: "grpcio/serve").path
      case .interopOnGRPCIO: Self.servers.appending(path: "grpcio/interop").path
      case .interopOnGRPCGo: try await Self.go.value
      }
    }
  }

  /// The server's address: `http://127.0.0.1:PORT`, or https.
  package let url: URL
  private let process: ChildProcess
  /// The number of calls of ``caughtUp()``.
  private let marks = Locked(0)

  private init(url: URL, process: ChildProcess) {
    self.url = url
    self.process = process
  }

  /// Starts a server, which ends with ``stop()`` or when its last reference is released.
  ///
  /// With certificates, it uses TLS. It asks `userInfo` for the user of each token.
  package static func start(
    _ program: Program = .serve, certificates: Certificates? = nil, userInfo: URL? = nil,
    options: [String] = []
  ) async throws -> GRPCServer {
    var command = [try await program.path()] + options
    if let certificates {
      command += ["--tls", certificates.path("server.pem"), certificates.path("server.key")]
    }
    if let userInfo { command += ["--userinfo", userInfo.absoluteString] }
    let process = try ChildProcess(command, input: .open)
    let port = try await process.line(after: "PORT=")
    guard let url = URL(string: "\(certificates == nil ? "http" : "https")://127.0.0.1:\(port)")
    else { throw ChildProcessError(message: "the gRPC server printed an invalid port: \(port)") }
    return GRPCServer(url: url, process: process)
  }

  /// Runs a body with a server, and stops the server afterwards.
  package static func running<Result: Sendable>(
    _ program: Program = .serve, certificates: Certificates? = nil, userInfo: URL? = nil,
    options: [String] = [], _ body: (GRPCServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(
      program, certificates: certificates, userInfo: userInfo, options: options)
    return try await stopping({ await server.stop() }) { try await body(server) }
  }

  /// The lines of the server's output so far.
  package var lines: [Substring] { process.output.split(separator: "\n") }

  /// Returns the number of calls of a method in ``lines``.
  ///
  /// Wait for ``caughtUp()`` first.
  package func count(of method: String) -> Int {
    lines.count { $0 == "CALL /grpc.testing.TestService/\(method)" }
  }

  /// Waits until ``lines`` has all output from before this call.
  package func caughtUp() async throws {
    let mark = marks.withLock { count in
      count += 1
      return count
    }
    process.signal(SIGHUP)
    _ = try await process.line(after: "MARK \(mark)")
  }

  /// Waits for a line of the server's output that begins with a text.
  @discardableResult
  package func line(after start: String) async throws -> String {
    try await process.line(after: start)
  }

  /// Ends the server as a deployment does: running calls may finish, and new ones are refused.
  package func drain() {
    process.signal(SIGUSR1)
  }

  /// Starts a new server at the address of a drained one.
  package func restart() {
    process.signal(SIGUSR2)
  }

  /// Suspends the server's process until ``thaw()``.
  ///
  /// Its connections stay open.
  package func freeze() async throws {
    try await process.freeze()
  }

  /// Continues the server's process after ``freeze()``.
  package func thaw() {
    process.signal(SIGCONT)
  }

  /// Kills the server with all its connections.
  package func kill() {
    process.signal(SIGKILL)
  }

  /// Stops the server.
  package func stop() async {
    await process.stop()
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test if ``GRPCServer`` cannot run.
  package static var requiresGRPCIO: Self {
    .requires("grpcio for Debian's Python; run Scripts/install test") {
      guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return false }
      return try await ChildProcess.run(["/usr/bin/python3", "-c", "import grpc"]).status == 0
    }
  }
}

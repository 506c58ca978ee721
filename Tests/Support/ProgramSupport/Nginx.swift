package import Foundation
import LoopbackSupport
package import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport

/// An nginx (an HTTP server of other authors) that a test runs as a resource server.
///
/// It asks a sandbox about every token, so it rejects a token that was revoked there. Its
/// configuration in `Tests/Programs/LiveTests/Servers/nginx` describes each path.
package final class Nginx: Sendable {
  /// `http://127.0.0.1:` and a port, for HTTP/1.1.
  package let url: URL
  /// `https://127.0.0.1:` and a port, with HTTP/2 for clients that offer it.
  package let secureURL: URL
  /// The way of nginx to itself on which an answer stops after 128 KiB.
  private let stoppingRelay: TCPRelay
  private let certificates: Certificates
  private let folder: TemporaryFolder
  private let process: ChildProcess

  private init(sandbox: SandboxServer, check: SandboxEndpoint, requests: Int) async throws {
    let sockets = [try BoundSocket(), try BoundSocket()]
    for socket in sockets { try socket.listen() }
    stoppingRelay = try TCPRelay(to: sockets[0].port, answerLimit: 128 * 1024)
    folder = try TemporaryFolder()
    certificates = try await Certificates()
    url = try Self.address("http", sockets[0])
    secureURL = try Self.address("https", sockets[1])
    for name in ["files", "public", "small", "abrupt"] {
      try FileManager.default.createDirectory(
        atPath: folder.file("root/\(name)"), withIntermediateDirectories: true)
    }
    let values = [
      "FOLDER": folder.path, "CERTIFICATES": certificates.folder.path,
      "PORT": "\(sockets[0].port)", "SECURE_PORT": "\(sockets[1].port)",
      "STOPPING_RELAY": "127.0.0.1:\(stoppingRelay.port)",
      "SANDBOX": "127.0.0.1:\(sandbox.issuer.port ?? 0)", "TOKEN_CHECK": check.path,
      "REQUESTS": "\(requests)",
      "USER": NginxProcess.user,
    ]
    let text = try values.reduce(String(contentsOfFile: Self.template, encoding: .utf8)) {
      $0.replacing("@\($1.key)@", with: $1.value)
    }
    try text.write(toFile: folder.file("nginx.conf"), atomically: true, encoding: .utf8)
    process = try NginxProcess.start(in: folder, sockets)
  }

  private static let template = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Programs/LiveTests/Servers/nginx/nginx.conf").standardized.path

  private static func address(_ scheme: String, _ socket: BoundSocket) throws -> URL {
    guard let url = URL(string: "\(scheme)://127.0.0.1:\(socket.port)") else {
      throw URLError(.badURL)
    }
    return url
  }

  /// Starts a server, which ends with ``stop()`` or when its last reference is released.
  ///
  /// The server asks `endpoint` of the sandbox about each token. `requestsPerConnection` limits the
  /// requests of a connection.
  package static func start(
    sandbox: SandboxServer, asking endpoint: SandboxEndpoint = .me,
    requestsPerConnection: Int = 1_000_000
  ) async throws -> Nginx {
    let server = try await Nginx(
      sandbox: sandbox, check: endpoint, requests: requestsPerConnection)
    do {
      _ = try await server.requests()
      return server
    } catch {
      await server.stop()
      throw ChildProcessError(message: "nginx: \(error)\n\(server.errors)")
    }
  }

  /// Runs a body with a server, and stops the server afterwards.
  package static func running<Result: Sendable>(
    sandbox: SandboxServer, asking endpoint: SandboxEndpoint = .me,
    requestsPerConnection: Int = 1_000_000, _ body: (Nginx) async throws -> Result
  ) async throws -> Result {
    let server = try await start(
      sandbox: sandbox, asking: endpoint, requestsPerConnection: requestsPerConnection)
    return try await stopping({ await server.stop() }) { try await body(server) }
  }

  /// Ends the server.
  package func stop() async {
    await process.stop()
  }

  /// The certificate authority of the server, in PEM.
  package var authority: Data {
    get throws { try certificates.data("ca.pem") }
  }

  /// Returns the file that is served at a path, such as `files/a` or `public/a`.
  package func file(_ path: String) -> URL {
    URL(filePath: folder.file("root/\(path)"))
  }

  /// The bodies that were sent to `/buffered/`, in order.
  package var bufferedBodies: [Data] {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("bodies"))
      return try names.sorted().map {
        try Data(contentsOf: URL(filePath: folder.file("bodies/\($0)")))
      }
    }
  }

  /// The content of nginx's error log, and what nginx wrote to standard error.
  package var errors: String {
    ((try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? "")
      + process.errors
  }

  // MARK: The log

  /// Returns every request whose answer was complete before this call, in order.
  ///
  /// A request that the client cancelled, or whose body nginx still reads, may appear only later.
  package func requests() async throws -> [NginxRequest] {
    let marker = "/marker?\(UUID().uuidString)"
    guard let url = URL(string: url.absoluteString + marker) else { throw URLError(.badURL) }
    var request = WebRequest(url: url)
    request.timeout = .seconds(20)
    _ = try await CurlTransport.shared.send(request)
    return try await eventually("nginx logs a request") {
      let all = try log()
      return all.contains { $0.target == marker }
        ? all.filter { !$0.target.hasPrefix("/marker?") } : nil
    }
  }

  /// Waits until there are at least `count` requests, and returns all so far.
  package func requests(atLeast count: Int) async throws -> [NginxRequest] {
    try await eventually("nginx logs \(count) requests") {
      let requests = try await requests()
      return requests.count >= count ? requests : nil
    }
  }

  private func log() throws -> [NginxRequest] {
    let text = try String(contentsOfFile: folder.file("requests.log"), encoding: .utf8)
    // The last line may be incomplete.
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { try JSONDecoder().decode(NginxRequest.self, from: Data($0.utf8)) }
  }
}

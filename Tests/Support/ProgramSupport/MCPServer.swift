package import Foundation
import SequencingOAuth
import TestSupport
package import Testing

/// An MCP server and its authorization server, both of one package of PyPI, on a free port.
///
/// The MCP server has the tools `add` and `count`. The authorization server registers clients, and
/// approves each sign-in at once. The scripts that run the servers describe the rest.
package final class MCPServer: Sendable {
  /// The packages, which differ in their metadata and in their refusals.
  package enum Package: String, Sendable, CaseIterable {
    /// The SDK of the protocol's authors.
    ///
    /// The server refuses tokens that are not for its ``MCPServer/url``, as resource indicators
    /// allow.
    case mcp
    /// FastMCP, which is built on `mcp`.
    ///
    /// The server does not look at the resource of a token. Its tool `erase` needs `admin`.
    case fastmcp
  }

  /// What a server demands, and how it answers.
  package struct Options: Sendable {
    /// The path of ``MCPServer/url``.
    package var path = "/mcp"
    /// The scopes that each request needs.
    package var scopes: [String] = []
    /// The scopes that each request also needs after ``MCPServer/demandMore()``.
    package var later: [String] = []
    /// The seconds after which an access token expires.
    package var lifetime = 3600
    /// Whether the server answers with JSON instead of event streams.
    package var answersInJSON = false

    package init() {}

    fileprivate var arguments: [String] {
      [
        "--path", path, "--scopes", scopes.joined(separator: " "), "--later",
        later.joined(separator: " "), "--lifetime", "\(lifetime)",
      ] + (answersInJSON ? ["--json"] : [])
    }
  }

  /// The address of both servers: `http://127.0.0.1:` and a port.
  package let origin: String
  /// The address of the MCP endpoint: the protected resource.
  package let url: URL
  private let process: ChildProcess

  private init(origin: String, url: URL, process: ChildProcess) {
    self.origin = origin
    self.url = url
    self.process = process
  }

  /// The folder into which `Scripts/install test` installs the packages.
  fileprivate static let packages = PackageSources.root.appending(path: ".build/python").path

  /// Starts a server, which ends with ``stop()`` or when its last reference is released.
  package static func start(
    _ package: Package, _ options: Options = Options()
  ) async throws -> MCPServer {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Programs/LiveTests/Servers/mcp/serve-\(package)").standardized.path
    let process = try ChildProcess(
      [script] + options.arguments, environment: ["PYTHONPATH": packages], input: .open)
    let origin = "http://127.0.0.1:\(try await process.line(after: "PORT="))"
    guard let url = URL(string: origin + options.path) else {
      throw ChildProcessError(message: "\(script): no address with the path \(options.path)")
    }
    return MCPServer(origin: origin, url: url, process: process)
  }

  /// Runs a body with a server, and stops the server afterwards.
  package static func running<Result: Sendable>(
    _ package: Package, _ options: Options = Options(), _ body: (MCPServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(package, options)
    return try await stopping({ await server.stop() }) { try await body(server) }
  }

  /// Returns a line for each answer so far, such as `200 POST /mcp`.
  ///
  /// Sends a last request and waits for its line, which is left out. The lines before it are then
  /// complete.
  package func answers() async throws -> [Substring] {
    let path = "/answers/\(UUID().uuidString)"
    _ = try await CurlTransport.shared.send(WebRequest(url: origin + path))
    let lines = try await eventually("the line of the last request") {
      let lines = process.output.split(separator: "\n")
      return lines.contains { $0.hasSuffix(" GET \(path)") } ? lines : nil
    }
    return lines.filter { $0.first?.isNumber == true && !$0.contains(" GET /answers/") }
  }

  /// Makes each request also need the scopes in `later`, as if the server's owner had changed the
  /// rules.
  ///
  /// The server's metadata stay as they are.
  package func demandMore() async throws {
    process.signal(SIGHUP)
    _ = try await process.line(after: "NEEDS ")
  }

  /// Ends the server at once, even with open event streams.
  package func stop() async {
    await process.stop()
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test if ``MCPServer`` cannot run.
  package static var requiresMCP: Self {
    .requires("mcp and fastmcp of PyPI; run Scripts/install test") {
      let search = """
        from importlib.util import find_spec
        exit(not (find_spec("mcp") and find_spec("fastmcp")))
        """
      guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return false }
      return try await ChildProcess.run(
        ["/usr/bin/python3", "-c", search], environment: ["PYTHONPATH": MCPServer.packages]
      ).status == 0
    }
  }
}

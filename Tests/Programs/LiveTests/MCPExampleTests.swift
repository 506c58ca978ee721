import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// The example client of the Model Context Protocol, at servers of other authors.
@Suite(.timeLimit(.minutes(20)), .requiresMCP) struct MCPExampleTests {
  /// The example, with a home folder of its own.
  private final class Client: Sendable {
    private let program: String
    private let builder: ProgramBuilder
    private let home: TemporaryFolder

    init() async throws {
      builder = try ProgramBuilder()
      home = try TemporaryFolder()
      let source = PackageSources.root.appending(path: "Demo/Examples/MCP.swift")
      program = try await builder.build(
        "mcp", ["main.swift": String(contentsOf: source, encoding: .utf8)], ["-swift-version", "6"])
    }

    /// Makes the access token of a server's account count as expired.
    func expire(_ server: MCPServer) async throws {
      let folder = home.file("com.example.mcp")
      let store = EncryptedFileTokenStore(
        path: EncryptedFileTokenStore.path(in: folder),
        key: .file(EncryptedFileTokenStore.keyPath(in: folder)))
      try await store.expire(server.url.absoluteString)
    }

    /// Runs the program to its end; `signsIn` says whether its user has to sign in.
    func run(
      _ server: MCPServer, _ arguments: String..., signsIn: Bool = false
    ) async throws -> [Substring] {
      let process = try ChildProcess(
        [program, server.url.absoluteString] + arguments,
        environment: ["BROWSER": "echo", "XDG_STATE_HOME": home.path, "CLIENT_ID": nil])
      if signsIn { try await MCPExampleTests.signIn(process, at: server) }
      let result = try await process.result()
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      return result.output.split(separator: "\n")
    }
  }

  /// Opens the sign-in address that a program prints; the server grants access at once.
  private static func signIn(_ process: ChildProcess, at server: MCPServer) async throws {
    let address = try await eventually("the address is shown") {
      // The last line may be incomplete.
      process.errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .first { $0.hasPrefix(server.origin) }
    }
    let answer = try await CurlTransport.shared.send(WebRequest(url: String(address)))
    let redirect = try #require(answer.headers["Location"])
    _ = try await CurlTransport.shared.send(WebRequest(url: redirect))
  }

  @Test(arguments: MCPServer.Package.allCases)
  func `the MCP client finds the authorization server, signs in once and calls tools`(
    package: MCPServer.Package
  ) async throws {
    let client = try await Client()
    var options = MCPServer.Options()
    options.scopes = ["read"]
    try await MCPServer.running(package, options) { server in
      let tools = try await client.run(server, signsIn: true)
      #expect(tools.map { $0.prefix { $0 != ":" } }.prefix(2) == ["add", "count"], "\(tools)")
      #expect(try await client.run(server, "add", #"{"a": 2, "b": 3}"#) == ["5"])
      let counted = try await client.run(server, "count", #"{"steps": 2}"#)
      #expect(counted.count == 3 && counted.last == "2", "\(counted)")
      let answers = try await server.answers()
      #expect(answers.count { $0 == "201 POST /register" } == 1)
      #expect(answers.count { $0 == "200 POST /token" } == 1)
      // Only the first request was made without a token.
      #expect(answers.count { $0 == "401 POST /mcp" } == 1)
    }
  }

  @Test(arguments: MCPServer.Package.allCases)
  func `eight simultaneous processes refresh an expired token only once`(
    package: MCPServer.Package
  ) async throws {
    let client = try await Client()
    try await MCPServer.running(package) { server in
      _ = try await client.run(server, signsIn: true)
      try await client.expire(server)
      let results = try await withThrowingTaskGroup(of: [Substring].self) { group in
        for number in 1...8 {
          group.addTask { try await client.run(server, "add", #"{"a": \#(number), "b": 1}"#) }
        }
        return try await group.reduce(into: Set<Substring>()) { $0.formUnion($1) }
      }
      #expect(results == Set((2...9).map { Substring("\($0)") }))
      let answers = try await server.answers()
      // There is one token request for the sign-in, and one for all eight processes.
      #expect(
        answers.filter { $0.hasSuffix("POST /token") } == ["200 POST /token", "200 POST /token"])
      #expect(answers.count { $0 == "201 POST /register" } == 1)
    }
  }

  @Test func `the MCP client requests more scopes when the server demands them`() async throws {
    let client = try await Client()
    var options = MCPServer.Options()
    options.scopes = ["read"]
    options.later = ["write"]
    try await MCPServer.running(.fastmcp, options) { server in
      _ = try await client.run(server, signsIn: true)
      try await server.demandMore()
      #expect(try await client.run(server, "add", #"{"a": 1, "b": 1}"#, signsIn: true) == ["2"])
      #expect(try await server.answers().count { $0 == "403 POST /mcp" } == 1)
    }
  }
}

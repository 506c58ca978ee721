import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The metadata and the challenges of MCP servers of other authors, which a client needs for a
/// sign-in.
@Suite(.timeLimit(.minutes(2)), .requiresMCP) struct MCPServerTests {
  static let packages = MCPServer.Package.allCases

  /// Runs `body` with a server that demands `read` and, after `demandMore()`, also `write`.
  private func running<Result: Sendable>(
    _ package: MCPServer.Package, change: (inout MCPServer.Options) -> Void = { _ in },
    _ body: (MCPServer) async throws -> Result
  ) async throws -> Result {
    var options = MCPServer.Options()
    options.scopes = ["read"]
    options.later = ["write"]
    change(&options)
    return try await MCPServer.running(package, options, body)
  }

  private func get(_ address: String, status: Int = 200) async throws -> JSONValue? {
    let response = try await CurlTransport.shared.send(WebRequest(method: "GET", url: address))
    #expect(response.status == status, "\(address)")
    return response.status == 200
      ? try JSONDecoder().decode(JSONValue.self, from: response.body) : nil
  }

  /// Sends a client's first request, which begins a session.
  private func call(_ server: MCPServer, token: String? = nil) async throws -> WebResponse {
    let message: JSONValue = [
      "jsonrpc": "2.0", "id": 1, "method": "initialize",
      "params": [
        "protocolVersion": "2025-11-25", "capabilities": [:],
        "clientInfo": ["name": "a test", "version": "1"],
      ],
    ]
    var request = WebRequest(method: "POST", url: server.url)
    request.headers["Accept"] = "application/json, text/event-stream"
    request.headers["Authorization"] = token.map { "Bearer \($0)" }
    request.headers["Content-Type"] = "application/json"
    request.body = .bytes(try JSONEncoder().encode(message))
    return try await CurlTransport.shared.send(request)
  }

  @Test(arguments: packages, ["/", "/a/b"])
  func `the challenge for a request without a token names the protected resource metadata`(
    package: MCPServer.Package, path: String
  ) async throws {
    try await running(package, change: { $0.path = path }) { server in
      let response = try await call(server)
      let challenge = try #require(response.headers.tokenChallenges.first)
      #expect(response.status == 401 && challenge.scheme == "Bearer")
      #expect(challenge.scope == (package == .fastmcp ? "read" : nil))
      // RFC 9728, section 3.1: a path of only a slash is left out.
      let place = "/.well-known/oauth-protected-resource" + (path == "/" ? "" : path)
      #expect(challenge.parameters["resource_metadata"] == server.origin + place)
      let metadata = try await get(server.origin + place)
      #expect(metadata["resource"] == .string(server.url.absoluteString))
      #expect(try await server.answers() == ["401 POST \(path)", "200 GET \(place)"])
    }
  }

  @Test(arguments: packages)
  func `the protected resource metadata name the authorization server`(package: MCPServer.Package)
    async throws
  {
    try await running(package) { server in
      let resource = try await get("\(server.origin)/.well-known/oauth-protected-resource/mcp")
      // The package fastmcp ends the address of an origin with a slash.
      let issuer = server.origin + (package == .fastmcp ? "/" : "")
      #expect(resource["authorization_servers"] == [.string(issuer)])
      #expect(resource["scopes_supported"][0] == "read")
      let metadata = try await get("\(server.origin)/.well-known/oauth-authorization-server")
      #expect(metadata["issuer"] == .string(issuer))
      #expect(metadata["code_challenge_methods_supported"] == ["S256"])
      #expect(metadata["registration_endpoint"] == .string("\(server.origin)/register"))
      #expect(
        metadata["token_endpoint_auth_methods_supported"]
          == ["client_secret_post", "client_secret_basic"])
      // The root has no protected resource metadata, so a client that asks there first finds none.
      _ = try await get("\(server.origin)/.well-known/oauth-protected-resource", status: 404)
    }
  }

  @Test(arguments: packages)
  func `a client registers, signs in and gets a challenge for insufficient scope`(
    package: MCPServer.Package
  ) async throws {
    try await running(package) { server in
      let account = try await account(at: server, package, resource: server.url.absoluteString)
      let token = try await account.requestAccess().accessToken
      let answer = try await call(server, token: token)
      #expect(answer.status == 200 && answer.headers["Mcp-Session-Id"] != nil)
      #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("event: message\r\ndata: {"))
      try await server.demandMore()
      let refusal = try await call(server, token: token)
      let challenge = try #require(refusal.headers.tokenChallenges.first)
      #expect(refusal.status == 403 && challenge.error == .insufficientScope)
      #expect(challenge.scope == (package == .fastmcp ? "read write" : nil))
    }
  }

  @Test func `a server of the package mcp refuses a token for another resource`() async throws {
    try await running(.mcp) { server in
      let account = try await account(at: server, .mcp, resource: "https://other.example.com/mcp")
      let token = try await account.requestAccess().accessToken
      #expect(try await call(server, token: token).status == 401)
    }
  }

  /// Registers a public client, and returns its account.
  private func account(
    at server: MCPServer, _ package: MCPServer.Package, resource: String
  ) async throws -> AuthorizationModule {
    let registrar = ClientRegistrar(issuer: server.origin + (package == .fastmcp ? "/" : ""))
    let registration = try await registrar.register(
      ClientMetadata(
        redirectURIs: ["com.example.app:/callback"], clientAuthentication: .publicClient,
        clientName: "A test", scope: "read write"))
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url, signIn in
      let answer = try await CurlTransport.shared.send(WebRequest(method: "GET", url: url))
      let redirect = try #require(answer.headers["Location"].flatMap { URL(string: $0) })
      #expect(signIn.handleRedirect(redirect))
    }
    return AuthorizationModule(
      configuration: try registration.configuration(
        scope: "read", authorizationParameters: ["resource": resource],
        tokenParameters: ["resource": resource]),
      environment: environment)
  }
}

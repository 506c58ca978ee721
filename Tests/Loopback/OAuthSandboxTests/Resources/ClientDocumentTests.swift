import FoundationEssentials
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

/// Clients whose identifiers are the addresses of documents about them.
@Suite(.timeLimit(.minutes(1))) struct ClientDocumentTests {
  private static let id = "https://app.example.com/client.json"

  private static let document: SandboxJSON = [
    "client_id": .string(id), "client_name": "A described app",
    "redirect_uris": [.string(SandboxPeer.redirectURI)], "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"],
  ]

  private func start(
    _ answer: SandboxClientDocuments.Answer?, asksLoopbackServers: Bool = false
  ) async throws -> (SandboxServer, SandboxPeer) {
    var options = SandboxOptions()
    options.clientDocuments = SandboxClientDocuments(asksLoopbackServers: asksLoopbackServers) {
      $0 == Self.id ? answer : nil
    }
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  /// Opens the first page of a sign-in.
  private func page(_ id: String, _ peer: SandboxPeer) async throws -> LoopbackAnswer {
    try await peer.get(try peer.authorizationURL(["client_id": id]))
  }

  @Test
  func `a client with a metadata document signs its user in and refreshes without registration`()
    async throws
  {
    let (sandbox, peer) = try await start(.init(json: Self.document))
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["client_id_metadata_document_supported"] == .bool(true))
    #expect(try await page(Self.id, peer).text.contains("A described app"))
    let code = try await peer.code(["client_id": Self.id])
    let tokens = try await peer.redeem(code, ["client_id": Self.id]).tokens()
    let refreshed = try await peer.refresh(
      try #require(tokens.refreshToken), client: Self.id)
    #expect(refreshed.status == 200)
    #expect(sandbox.clients.count == 2, "nothing is registered")
    await sandbox.stop()
  }

  @Test func `a client with a metadata document can post its authorization request`()
    async throws
  {
    let (sandbox, peer) = try await start(.init(json: Self.document))
    let page = try await peer.post(
      "/authorize",
      SandboxPeer.signInForm.map { $0.0 == "client_id" ? ($0.0, Self.id) : $0 })
    #expect(page.status == 200 && page.text.contains("A described app"), "\(page.text)")
    await sandbox.stop()
  }

  @Test func `a client with a metadata document gets a logout token when the session ends`()
    async throws
  {
    let tokens = Locked<[String]>([])
    let backend = try LoopbackServer { request in
      let body = String(decoding: request.body, as: UTF8.self)
      tokens.withLock { $0.append(body) }
      return .response(LoopbackResponse(status: 200))
    }
    let address = SandboxJSON.string("http://\(backend.authority)/logout")
    let (sandbox, peer) = try await start(
      .init(json: Self.document.setting("backchannel_logout_uri", to: address)))
    let code = try await peer.code(["client_id": Self.id, "scope": "openid"])
    #expect(try await peer.redeem(code, ["client_id": Self.id]).status == 200)
    await sandbox.signOut()
    let token = try #require(tokens.withLock { $0 }.first)
    let claims = try ReadJWT(String(token.dropFirst("logout_token=".count))).claims
    #expect(claims["aud"]?.string == Self.id)
    await backend.stop()
    await sandbox.stop()
  }

  @Test func `the key set has the key for the algorithm in a client's metadata document`()
    async throws
  {
    let (sandbox, peer) = try await start(
      .init(json: Self.document.setting("id_token_signed_response_alg", to: "ES384")))
    _ = try await page(Self.id, peer)
    #expect(try await peer.keys().contains { $0["alg"] == "ES384" })
    await sandbox.stop()
  }

  @Test func `for a pushed request the sandbox also reads the client's metadata document`()
    async throws
  {
    let (sandbox, peer) = try await start(.init(json: Self.document))
    let form = SandboxPeer.signInForm.map { $0.0 == "client_id" ? ($0.0, Self.id) : $0 }
    let pushed = try await peer.post("/par", form)
    #expect(pushed.status == 201, "\(pushed.text)")
    await sandbox.stop()
  }

  @Test func `without the option for client metadata documents, a URL is an unknown client_id`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let peer = SandboxPeer(sandbox: sandbox)
    #expect(try await page(Self.id, peer).status == 400)
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["client_id_metadata_document_supported"] == nil)
    await sandbox.stop()
  }

  private static func changed(_ name: String, _ value: SandboxJSON?)
    -> SandboxClientDocuments.Answer
  {
    .init(json: document.setting(name, to: value))
  }

  private static let faults: [(answer: SandboxClientDocuments.Answer?, reason: String)] = [
    (nil, "could not be fetched"),
    (.init(status: 404, contentType: "application/json", body: Data(document.text.utf8)), "404"),
    (.init(status: 302, contentType: nil, body: Data()), "302"),
    (.init(contentType: "text/html", body: Data(document.text.utf8)), "not a JSON object"),
    (.init(contentType: nil, body: Data(document.text.utf8)), "not a JSON object"),
    (.init(contentType: "application/json", body: Data("[]".utf8)), "not a JSON object"),
    (changed("client_id", "https://app.example.com/other.json"), "another one"),
    (changed("client_id", nil), "another one"),
    (changed("client_secret", "s"), "contains a secret"),
    (changed("client_secret_expires_at", 0), "contains a secret"),
    (changed("token_endpoint_auth_method", "client_secret_post"), "needs a secret"),
    (changed("token_endpoint_auth_method", nil), "needs a secret"),
    (changed("redirect_uris", nil), "redirect_uris is missing"),
    (changed("x", .string(String(repeating: "x", count: 5 * 1024))), "larger than 5120 bytes"),
  ]

  @Test(arguments: faults.indices)
  func `a client with a wrong metadata document is unknown, and the page says why`(
    index: Int
  ) async throws {
    let (answer, reason) = Self.faults[index]
    let (sandbox, peer) = try await start(answer)
    let page = try await page(Self.id, peer)
    #expect(page.status == 400 && page.text.contains(reason), "\(page.text)")
    let token = try await peer.redeem("code", ["client_id": Self.id])
    #expect(token.status == 401 && token.text.contains(reason), "\(token.text)")
    await sandbox.stop()
  }

  @Test(arguments: [
    ("http://app.example.com/client.json", "not an https URL"),
    ("https://app.example.com", "no path"),
    ("https://app.example.com/a/../client.json", "has the segment"),
    ("https://app.example.com/client.json#x", "a fragment or a user"),
    ("https://me@app.example.com/client.json", "a fragment or a user"),
    ("http://127.0.0.1:1/client.json", "not an https URL"),
  ])
  func `a client_id that is not a valid document URL is refused without a request`(
    id: String, reason: String
  )
    async throws
  {
    var options = SandboxOptions()
    options.clientDocuments = SandboxClientDocuments { address in
      Issue.record("the sandbox requested \(address)")
      return nil
    }
    let sandbox = try await SandboxServer.start(options)
    let peer = SandboxPeer(sandbox: sandbox)
    let page = try await page(id, peer)
    #expect(page.status == 400 && page.text.contains(reason), "\(page.text)")
    await sandbox.stop()
  }

  @Test func `a changed metadata document is used at the next sign-in`() async throws {
    let document = Locked(Self.document)
    var options = SandboxOptions()
    options.clientDocuments = SandboxClientDocuments { _ in .init(json: document.withLock(\.self)) }
    let sandbox = try await SandboxServer.start(options)
    let peer = SandboxPeer(sandbox: sandbox)
    let code = try await peer.code(["client_id": Self.id])
    document.withLock { $0["redirect_uris"] = ["com.example.new:/callback"] }
    #expect(try await page(Self.id, peer).text.contains("wrong place"))
    #expect(try await peer.redeem(code, ["client_id": Self.id]).status == 200)
    await sandbox.stop()
  }

  @Test(arguments: [false, true])
  func `a metadata document is fetched from a loopback server only if the options allow it`(
    isAllowed: Bool
  ) async throws {
    let served = try await SandboxServer.start()
    let id = served.url(.me).absoluteString
    let document = Self.document.setting("client_id", to: .string(id))
    served.misbehave(
      at: .me,
      .status(200, headers: ["Content-Type": "application/json"], body: document.text), times: nil)
    let (sandbox, peer) = try await start(nil, asksLoopbackServers: isAllowed)
    let page = try await page(id, peer)
    #expect(page.text.contains("A described app") == isAllowed)
    #expect(served.requests(to: .me).isEmpty == !isAllowed)
    await sandbox.stop()
    await served.stop()
  }

  @Test
  func `a chunked metadata document of a loopback server is read only if its chunks are valid`()
    async throws
  {
    let chunks = Locked<[String]>([])
    let served = try LoopbackServer { _ in
      let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: Chunked\r\n\r\n"
      return .script([.send(Data((head + chunks.withLock { $0.joined() }).utf8))])
    }
    let id = "http://\(served.authority)/client.json"
    let text = Self.document.setting("client_id", to: .string(id)).text
    func chunk(_ text: Substring) -> String {
      "\(String(text.utf8.count, radix: 16));name=value\r\n\(text)\r\n"
    }
    let (sandbox, peer) = try await start(nil, asksLoopbackServers: true)
    let whole = [chunk(text.prefix(7)), chunk(text.dropFirst(7)), "0\r\n\r\n"]
    let rows: [([String], Bool)] = [
      (whole, true), (Array(whole.dropLast()), false), (["x"] + whole, false), ([], false),
    ]
    for (sent, isRead) in rows {
      chunks.withLock { $0 = sent }
      #expect(try await page(id, peer).text.contains("A described app") == isRead, "\(sent)")
    }
    await sandbox.stop()
    await served.stop()
  }
}

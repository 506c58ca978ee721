import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct KeySetTests {
  private static func algorithm(_ algorithm: SandboxSigningAlgorithm) -> SandboxOptions {
    var options = SandboxOptions()
    options.clients[0].idTokenAlgorithm = algorithm
    options.clients[1].idTokenAlgorithm = algorithm
    // Token exchange signs with RS256. Without it, the sandbox signs only with `algorithm`.
    options.grantTypes = ["authorization_code"]
    return options
  }

  @Test
  func `the key set has the keys for the clients' algorithms before the first token is issued`()
    async throws
  {
    let sandbox = try await SandboxServer.start(Self.algorithm(.es256))
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.get("/jwks")
    #expect(answer.header("content-type") == "application/jwk-set+json")
    #expect(answer.header("cache-control") == "public, max-age=3600")
    let keys = try await client.keys()
    let key = try #require(keys.last)
    #expect(key["kty"] == "EC" && key["crv"] == "P-256")
    #expect(key["use"] == "sig" && key["alg"] == "ES256")
    let token = try await client.signIn().idToken()
    #expect(token.header["kid"] == key["kid"])
    #expect(token.header["alg"] == "ES256")
    #expect(sandbox.requests(to: .keys).count == 2)
    await sandbox.stop()
  }

  @Test
  func `before any token is issued, the key set has the keys of access tokens and other JWTs`()
    async throws
  {
    var options = Self.algorithm(.edDSA)
    options.accessTokenFormat = .jwt(.es256)
    options.clients[1].idTokenAlgorithm = .hs256
    options.openID.decoyKeys = .none
    func algorithms() async throws -> Set<String> {
      let sandbox = try await SandboxServer.start(options)
      let keys = try await SandboxPeer(sandbox: sandbox).keys()
      await sandbox.stop()
      return Set(keys.compactMap { $0["alg"]?.string })
    }
    #expect(try await algorithms() == ["EdDSA", "ES256", "RS256"], "introspection uses RS256")
    options.clients[1].idTokenAlgorithm = .edDSA
    #expect(try await algorithms() == ["EdDSA", "ES256"])
    options.grantTypes = nil
    #expect(try await algorithms() == ["EdDSA", "ES256", "RS256"], "token exchange uses RS256")
  }

  @Test func `decoy keys are of every type`() async throws {
    let sandbox = try await SandboxServer.start(Self.algorithm(.edDSA))
    let decoys = try await SandboxPeer(sandbox: sandbox).keys().dropLast()
    let kinds = Set(decoys.compactMap { $0["kty"]?.string })
    #expect(kinds == ["sandbox", "oct", "RSA", "EC", "OKP"])
    #expect(decoys.contains { $0["use"] == "enc" })
    #expect(decoys.contains { $0["key_ops"] == ["encrypt", "wrapKey"] })
    #expect(decoys.contains { $0["kid"] == nil })
    let ids = decoys.compactMap { $0["kid"]?.string }
    #expect(Set(ids).count == ids.count, "each has its own ID")
    let lengths = decoys.compactMap { $0["n"]?.string.flatMap { Data(base64URL: $0)?.count } }
    #expect(!lengths.isEmpty && lengths.allSatisfy { $0 == 256 })
    await sandbox.stop()
  }

  @Test func `decoy keys can repeat the signing key's ID, and the signing key can have no ID`()
    async throws
  {
    var options = Self.algorithm(.es384)
    options.openID.decoyKeys = .repeatedIDs
    let repeating = try await SandboxServer.start(options)
    let keys = try await SandboxPeer(sandbox: repeating).keys()
    let ids = Set(keys.compactMap { $0["kid"]?.string })
    #expect(keys.count > 5 && ids.count == 1)
    await repeating.stop()
    options.openID.decoyKeys = .none
    options.openID.namesKeys = false
    options.openID.keySetCacheControl = nil
    let plain = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: plain)
    #expect(try await client.keys().map(\.names) == [["alg", "crv", "kty", "use", "x", "y"]])
    #expect(try await client.signIn().idToken().header["kid"] == nil)
    #expect(try await client.get("/jwks").header("cache-control") == nil)
    await plain.stop()
  }

  @Test func `sandboxes share the same initial keys, and a rotation changes only its own sandbox`()
    async throws
  {
    var ids: [SandboxJSON?] = []
    for rotates in [false, true, false] {
      let sandbox = try await SandboxServer.start(Self.algorithm(.rs256))
      _ = sandbox.issueTokens(scopes: ["openid"])
      if rotates { sandbox.rotateSigningKeys() }
      ids.append(try await SandboxPeer(sandbox: sandbox).keys().last?["kid"])
      await sandbox.stop()
    }
    #expect(ids[0] != nil && ids[0] == ids[2] && ids[0] != ids[1])
  }

  @Test func `after a rotation a new key signs, and the old keys are kept or removed as requested`()
    async throws
  {
    let sandbox = try await SandboxServer.start(Self.algorithm(.edDSA))
    let client = SandboxPeer(sandbox: sandbox)
    var ids: [String] = []
    for keepingOld in [true, false] {
      _ = try #require(sandbox.issueTokens(scopes: ["openid"]).idToken)
      sandbox.rotateSigningKeys(keepingOld: keepingOld)
      let token = try ReadJWT(try #require(sandbox.issueTokens(scopes: ["openid"]).idToken))
      let id = try #require(token.header["kid"]?.string)
      let published = try await client.keys().compactMap { $0["kid"]?.string }
        .filter { $0.hasPrefix("eddsa-") }
      #expect(published.last == id && !ids.contains(id))
      #expect(published.count == (keepingOld ? 2 : 1))
      ids.append(id)
    }
    await sandbox.stop()
  }

  @Test(arguments: SandboxKeySetFault.allCases.filter { $0 != .silent })
  func `the sandbox can send one faulty key set`(fault: SandboxKeySetFault) async throws {
    let sandbox = try await SandboxServer.start(Self.algorithm(.es256))
    let client = SandboxPeer(sandbox: sandbox)
    let right = try #require(try await client.keys().last)
    sandbox.misbehave(at: .keys, .keySet(fault))
    if fault == .unreachable {
      await #expect(throws: LoopbackError.self) { try await client.get("/jwks") }
    } else {
      let answer = try await client.get("/jwks")
      let wrong = SandboxJSON(parsing: answer.text)
      switch fault {
      case .serverError: #expect(answer.status == 500)
      case .notFound: #expect(answer.status == 404)
      case .notJSON: #expect(answer.status == 200 && wrong == nil)
      case .doubled: #expect(answer.text.hasSuffix(#"],"keys":[]}"#))
      case .noMember: #expect(wrong == [:])
      case .notAnArray: #expect(wrong == ["keys": "none"])
      case .empty: #expect(wrong == ["keys": []])
      default: #expect(wrong?["keys"]?.array.contains(right) == false)
      }
    }
    #expect(try await client.keys().last == right)
    await sandbox.stop()
  }

  @Test func `the sandbox can send the headers of a key set without its body`() async throws {
    let sandbox = try await SandboxServer.start(Self.algorithm(.es256))
    sandbox.misbehave(at: .keys, .keySet(.silent))
    let connection = try await LoopbackConnection(port: UInt16(try #require(sandbox.issuer.port)))
    let head = "GET /jwks HTTP/1.1\r\nHost: 127.0.0.1:\(try #require(sandbox.issuer.port))\r\n\r\n"
    try await connection.send(Data(head.utf8))
    let answer = String(decoding: try await connection.receive(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("\r\n\r\n"))
    await sandbox.stop()
  }
}

import FoundationEssentials
import OAuthSandbox
import Testing

@testable import LoopbackSupport

/// Each ID token fault changes only what its name says, and only in one ID token.
@Suite(.timeLimit(.minutes(1))) struct IDTokenFaultTests {
  private static let now = 1_800_000_000

  /// Starts a sandbox with a stopped clock and keys that are fast to create.
  private func start(
    _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.clients[0].idTokenAlgorithm = .es256
    options.openID.alwaysTellsAuthenticationTime = true
    let now = Date(timeIntervalSince1970: Double(Self.now))
    options.now = { now }
    change(&options)
    return try await SandboxServer.start(options)
  }

  private static let claims: [(SandboxIDTokenFault, name: String, value: SandboxJSON?)] = [
    (.issuerWrong, "iss", "https://other.example"), (.issuerMissing, "iss", nil),
    (.otherSubject, "sub", "another-user"), (.subjectMissing, "sub", nil),
    (.subjectEmpty, "sub", ""), (.audienceWrong, "aud", "another-client"),
    (.audienceMissing, "aud", nil), (.audienceEmpty, "aud", []),
    (.audienceArray, "aud", ["sandbox-app"]),
    (.authorizedPartyWrong, "azp", "another-client"),
    (.authorizedPartyAdded, "azp", "sandbox-app"),
    (.authorizedPartyMissing, "aud", ["sandbox-app", "another-client"]),
    (.expired, "exp", .integer(now - 3600)), (.expiryMissing, "exp", nil),
    (.expiryNotNumber, "exp", "tomorrow"), (.issueDateMissing, "iat", nil),
    (.issuedInFuture, "iat", .integer(now + 3600)),
    (.issuedTooLongAgo, "iat", .integer(now - 86400)),
    (.notYetValid, "nbf", .integer(now + 3600)),
    (.authenticationDateMissing, "auth_time", nil),
    (.authenticatedTooLongAgo, "auth_time", .integer(now - 86400)),
    (.authenticatedLater, "auth_time", .integer(now + 10)),
    (.nonceWrong, "nonce", "another-nonce"), (.nonceMissing, "nonce", nil),
    (.accessTokenHashMissing, "at_hash", nil), (.acrMissing, "acr", nil),
    (.acrOther, "acr", "urn:sandbox:other"),
  ]

  @Test func `a claim fault changes only its own claim`() async throws {
    let sandbox = try await start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    let parameters: [String: String?] = ["nonce": "n"]
    let right = try await client.signIn(parameters, visitor: visitor).idToken().claims
    for (fault, name, value) in Self.claims {
      sandbox.misbehave(at: .token, .idToken(fault))
      let wrong = try await client.signIn(parameters, visitor: visitor).idToken().claims
      let expected = right.with(name, value).with("at_hash", nil)
      #expect(wrong.with("at_hash", nil) == expected, "\(fault)")
      #expect((wrong["at_hash"] == nil) == (fault == .accessTokenHashMissing))
    }
    let after = try await client.signIn(parameters, visitor: visitor).idToken().claims
    #expect(after.with("at_hash", nil) == right.with("at_hash", nil))
    await sandbox.stop()
  }

  @Test func `a claim fault can change the issuer, audience, hashes or length`() async throws {
    let sandbox = try await start()
    let client = SandboxPeer(sandbox: sandbox)
    func claims(_ fault: SandboxIDTokenFault) async throws -> SandboxJSON {
      sandbox.misbehave(at: .token, .idToken(fault))
      return try await client.signIn().idToken().claims
    }
    let issuer = sandbox.issuer.absoluteString
    #expect(try await claims(.issuerWithSlash)["iss"]?.string == issuer + "/")
    let extra = try await claims(.audienceExtra)
    #expect(extra["aud"] == ["sandbox-app", "another-client"] && extra["azp"] == "sandbox-app")
    let hash = try await claims(.accessTokenHashWrong)["at_hash"]
    // The wrong hash is the left half of SHA-256 of "another".
    #expect(hash == "rkSKyGxOjk3sZFcpcI70GA")
    #expect(try await claims(.codeHashWrong)["c_hash"] == hash)
    #expect(try #require(try await claims(.tooLong)["padding"]?.string).utf8.count == 1 << 20)
    await sandbox.stop()
  }

  @Test func `azp can be missing from a token with two audiences`()
    async throws
  {
    let sandbox = try await start { $0.clients[0].additionalAudiences = ["https://api.example"] }
    sandbox.misbehave(at: .token, .idToken(.authorizedPartyMissing))
    let token = try await SandboxPeer(sandbox: sandbox).signIn().idToken()
    #expect(token.claims["aud"] == ["sandbox-app", "https://api.example"])
    #expect(token.claims["azp"] == nil)
    await sandbox.stop()
  }

  /// Returns the text of the ID token in the token response.
  private func text(_ fault: SandboxIDTokenFault, _ sandbox: SandboxServer) async throws -> String?
  {
    sandbox.misbehave(at: .token, .idToken(fault))
    return try await SandboxPeer(sandbox: sandbox).signIn().json()["id_token"]?.string
  }

  private func decoded(_ part: Substring) -> String {
    Data(base64URL: part).map { String(decoding: $0, as: UTF8.self) } ?? "not base64url"
  }

  @Test func `an ID token can be missing, malformed or encrypted`() async throws {
    let sandbox = try await start()
    #expect(try await text(.missing, sandbox) == nil)
    #expect(try await text(.empty, sandbox) == "")
    func parts(_ fault: SandboxIDTokenFault) async throws -> [Substring] {
      try #require(try await text(fault, sandbox))
        .split(separator: ".", omittingEmptySubsequences: false)
    }
    #expect(decoded(try await parts(.malformedBase64)[1]) == "not base64url")
    #expect(try await parts(.twoParts).count == 2)
    let encrypted = try await parts(.encrypted)
    #expect(encrypted.count == 5 && decoded(encrypted[0]).contains("A256GCM"))
    #expect(decoded(try await parts(.headerNotJSON)[0]) == "not JSON")
    #expect(decoded(try await parts(.claimsNotJSON)[1]) == "not JSON")
    let unsigned = try await parts(.unsigned)
    #expect(decoded(unsigned[0]) == #"{"alg":"none","typ":"JWT"}"# && unsigned[2].isEmpty)
    let empty = try await parts(.noSignature)
    #expect(decoded(empty[0]).contains("ES256") && empty[2].isEmpty)
    #expect(
      decoded(try await parts(.doubledAlgorithm)[0]).hasPrefix(#"{"alg":"ES256","alg":"ES256""#))
    let doubled = decoded(try await parts(.doubledSubject)[1])
    #expect(doubled.hasPrefix(#"{"sub":"another-user","#) && doubled.contains(#""sub":"alice""#))
    await sandbox.stop()
  }

  @Test func `an ID token's header can name a wrong key, algorithm or extension`() async throws {
    let sandbox = try await start()
    let client = SandboxPeer(sandbox: sandbox)
    func header(_ fault: SandboxIDTokenFault) async throws -> SandboxJSON {
      try ReadJWT(try #require(try await text(fault, sandbox))).header
    }
    func publishes(_ id: SandboxJSON?) async throws -> Bool {
      try await client.keys().contains { $0["kid"] == id }
    }
    #expect(try await header(.unknownKeyID)["kid"] == "unknown")
    #expect(try await header(.keyIDMissing)["kid"] == nil)
    #expect(try await header(.critical)["crit"] == ["urn:sandbox:extension"])
    let unpublished = try await header(.unpublishedKey)
    #expect(unpublished["alg"] == "ES256" && unpublished["kid"] != nil)
    #expect(try await !publishes(unpublished["kid"]))
    let embedded = try await header(.embeddedKey)
    #expect(embedded["jwk"]?["kty"] == "EC")
    #expect(try await !publishes(embedded["kid"]))
    let address = sandbox.issuer.absoluteString + "/foreign-keys"
    #expect(try await header(.keyAddress)["jku"]?.string == address)
    let other = try await header(.otherAlgorithm)
    #expect(other["alg"] == "RS256")
    #expect(try await publishes(other["kid"]))
    let hmac = try await header(.hmacWithPublicKey)
    #expect(hmac["alg"] == "HS256")
    #expect(try await publishes(hmac["kid"]))
    let weak = try await header(.weakKey)
    let key = try #require(try await client.keys().first { $0["kid"] == weak["kid"] })
    #expect(try #require(key["n"]?.string.flatMap { Data(base64URL: $0) }).count == 128)
    await sandbox.stop()
  }

  @Test(arguments: [SandboxSigningAlgorithm.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
  func `a weak key can sign with every RSA algorithm`(algorithm: SandboxSigningAlgorithm)
    async throws
  {
    let sandbox = try await start { $0.clients[0].idTokenAlgorithm = algorithm }
    let weak = try ReadJWT(try #require(try await text(.weakKey, sandbox))).header
    #expect(weak["alg"]?.string == algorithm.rawValue)
    let keys = try await SandboxPeer(sandbox: sandbox).keys()
    let modulus = try #require(keys.first { $0["kid"] == weak["kid"] }?["n"]?.string)
    #expect(try #require(Data(base64URL: modulus)).count <= 130, "the key has about 1024 bits")
    await sandbox.stop()
  }

  @Test func `an ID token fault that is set for two ID tokens also applies to refreshes`()
    async throws
  {
    let sandbox = try await start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(scopes: ["openid"])
    let plain = sandbox.issueTokens(scopes: ["demo"])
    sandbox.misbehave(at: .token, .idToken(.otherSubject), times: 2)
    #expect(try await client.refresh(plain.refreshToken).status == 200)
    var next = tokens.refreshToken
    for expected in ["another-user", "another-user", "alice"] {
      let answer = try await client.refresh(next)
      #expect(try answer.idToken().claims["sub"]?.string == expected)
      next = try #require(try answer.tokens().refreshToken)
    }
    await sandbox.stop()
  }

  @Test func `a test can change the header and claims of an ID token`() async throws {
    let sandbox = try await start()
    sandbox.misbehave(
      at: .token,
      .idToken { token in
        token.header["typ"] = "at+jwt"
        token.claims["tenant"] = "another"
      })
    let token = try await SandboxPeer(sandbox: sandbox).signIn().idToken()
    #expect(token.header["typ"] == "at+jwt" && token.claims["tenant"] == "another")
    await sandbox.stop()
  }

  @Test func `each fault has its own description`() {
    let all = SandboxIDTokenFault.allCases
    #expect(all.count > 50 && SandboxIDTokenFault.legal.isSubset(of: all))
    #expect(Set(all.map(\.description)).count == all.count)
    #expect(SandboxIDTokenFault.expired.description == "exp is an hour in the past")
  }
}

extension SandboxJSON {
  /// Returns the object with one member changed and the others sorted by name.
  fileprivate func with(_ name: String, _ value: SandboxJSON?) -> SandboxJSON {
    guard case .object(var members) = self else { return self }
    members.removeAll { $0.name == name }
    if let value { members.append(.init(name, value)) }
    return .object(members.sorted { $0.name < $1.name })
  }
}

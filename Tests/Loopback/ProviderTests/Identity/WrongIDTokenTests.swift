import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Every fault that a provider's ID token can have, and the client's reaction.
@Suite("Wrong ID tokens", .timeLimit(.minutes(3))) struct WrongIDTokenTests {
  /// Returns the error code of a fault, or `nil` if the token is accepted.
  ///
  /// The sign-in asks for a recent login with an essential authentication context.
  static func code(of fault: SandboxIDTokenFault) -> SQOAuthError.Code? {
    switch fault {
    case .missing, .empty: .idTokenMissing
    case .tooLong: .responseTooLarge
    case .malformedBase64, .twoParts, .headerNotJSON, .claimsNotJSON, .doubledAlgorithm,
      .doubledSubject, .subjectEmpty, .audienceEmpty, .expiryNotNumber:
      .idTokenMalformed
    case .encrypted: .idTokenEncrypted
    case .unsigned, .otherAlgorithm, .hmacWithPublicKey: .idTokenAlgorithm
    case .noSignature, .wrongSignature: .idTokenSignature
    case .unknownKeyID, .unpublishedKey, .embeddedKey, .keyAddress: .idTokenKey
    case .weakKey: .idTokenWeakKey
    case .critical: .idTokenCritical
    case .issuerWrong, .issuerWithSlash: .idTokenIssuer
    case .issuerMissing, .subjectMissing, .audienceMissing, .expiryMissing, .issueDateMissing:
      .idTokenIncomplete
    case .audienceWrong, .audienceExtra: .idTokenAudience
    case .authorizedPartyWrong, .authorizedPartyMissing: .idTokenAuthorizedParty
    case .expired: .idTokenExpired
    case .issuedInFuture, .notYetValid: .idTokenNotYetValid
    case .nonceWrong, .nonceMissing: .idTokenNonce
    case .accessTokenHashWrong: .idTokenAccessToken
    case .codeHashWrong: .idTokenCode
    case .authenticationDateMissing, .authenticatedTooLongAgo: .idTokenAuthenticationDate
    case .acrMissing, .acrOther: .idTokenAuthenticationContext
    // A first token has no earlier user to differ from, no rule limits the age of an unexpired ID
    // token, and ten seconds are within the clock tolerance.
    case .otherSubject, .issuedTooLongAgo, .authenticatedLater: nil
    // These variants are valid.
    case .keyIDMissing, .audienceArray, .authorizedPartyAdded, .accessTokenHashMissing: nil
    }
  }

  @Test(arguments: SandboxIDTokenFault.allCases)
  func `an invalid ID token is rejected with the error code for its fault`(
    fault: SandboxIDTokenFault
  ) async throws {
    // `azp` is missing beside an audience that the client trusts.
    let trusted: Set = fault == .authorizedPartyMissing ? ["another-client"] : []
    let party = try await OpenIDFixture(
      fault == .weakKey ? .rs256 : .es256, change: { $0.trustedAudiences = trusted })
    var options = SignInOptions()
    options.maxAge = .seconds(600)
    options.claims = ClaimsRequest(
      idToken: ["acr": .essential(values: ["urn:sandbox:careful"])])
    guard let code = Self.code(of: fault) else {
      party.sandbox.misbehave(at: .token, .idToken(fault))
      try await party.signIn(options)
      return
    }
    try await party.refuses(.idToken(fault), code, options)
    #expect(party.sandbox.requests.allSatisfy { !$0.path.contains("foreign") })
    // The next sign-in succeeds.
    try await party.signIn(options)
  }

  @Test func `a token of more than 128 KiB is rejected`() async throws {
    try await OpenIDFixture(.es256).refuses(
      .idToken { $0.claims["x"] = .string(String(repeating: "x", count: 100_000)) },
      .idTokenMalformed)
  }

  /// Returns the error code of a sign-in if the provider's keys have a fault.
  static func code(of fault: SandboxKeySetFault) -> SQOAuthError.Code {
    switch fault {
    case .unreachable: .connectionFailed
    case .serverError: .serverError
    case .silent: .requestTimedOut
    case .notFound, .notJSON, .noMember, .notAnArray, .doubled: .invalidResponse
    case .empty, .withoutSigningKeys, .pointsOffCurve, .forEncryption: .idTokenKey
    }
  }

  @Test(arguments: SandboxKeySetFault.allCases)
  func `the sign-in fails if the provider's keys are unusable`(fault: SandboxKeySetFault)
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    party.sandbox.misbehave(at: .keys, .keySet(fault), times: 10)
    let outlasting = fault == .silent ? party.fixture.outlastRequests(to: .keys) : nil
    await failure(Self.code(of: fault)) { try await party.oauth.signIn() }
    outlasting?.cancel()
    #expect(!party.sandbox.requests(to: .keys).isEmpty)
    #expect(party.oauth.result.token == nil)
  }

  @Test(arguments: SandboxSigningAlgorithm.allCases)
  func `each algorithm is accepted if the client asked for it`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    let party = try await OpenIDFixture(algorithm) { $0.openID.decoyKeys = .repeatedIDs }
    let user = try await party.signIn()
    #expect(user.sessionID != nil)
  }

  @Test func `an algorithm that the client did not ask for is rejected`() async throws {
    let party = try await OpenIDFixture(.hs256, change: { $0.idTokenAlgorithm = nil })
    await failure(.idTokenAlgorithm) { try await party.oauth.signIn() }
    let other = try await OpenIDFixture(.rs256, change: { $0.idTokenAlgorithm = .es256 })
    await failure(.idTokenAlgorithm) { try await other.oauth.signIn() }
  }

  @Test func `if the client chooses no algorithm, the only algorithm in the metadata is accepted`()
    async throws
  {
    let party = try await OpenIDFixture(
      .es384, changeSandbox: { $0.openID.algorithms = [.es384] },
      change: { $0.idTokenAlgorithm = nil })
    try await party.signIn()
  }

  @Test func `the sign-in fails if the client secret is too short for the ID token's algorithm`()
    async throws
  {
    let party = try await OpenIDFixture(.hs512) { _ in
    } change: {
      $0.idTokenAlgorithm = .hs512
    }
    try party.fixture.register(clientID: "relying-party", secret: "short", scope: "openid") {
      $0.idTokenAlgorithm = .hs512
    }
    await failure(.openIDUnsupported) { try await party.oauth.signIn() }
  }

  @Test(arguments: [
    (nil, "application/json, application/jwt"), (SandboxSigningAlgorithm.es256, "application/jwt"),
  ])
  func `a client that expects a signed UserInfo response requests only a JWT`(
    algorithm: SandboxSigningAlgorithm?, accepted: String
  ) async throws {
    let party = try await OpenIDFixture(.es256) { options in
      options.clients[0].userInfoAlgorithm = algorithm
    } change: {
      $0.userInfoAlgorithm = algorithm.flatMap { JWSAlgorithm(rawValue: $0.rawValue) }
    }
    try await party.signIn()
    _ = try await party.oauth.userInfo()
    #expect(party.sandbox.requests(to: .userInfo).map { $0.header("Accept") } == [accepted])
  }

  @Test(arguments: [400, 404, 500])
  func `the error shows the UserInfo endpoint's message without the token`(status: Int) async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let token = try #require(party.oauth.result.token?.accessToken)
    let body = #"{"error":{"message":"no \#(token), sorry"}}"#
    party.sandbox.misbehave(at: .userInfo, .status(status, body: body), times: nil)
    let error = await failure { try await party.oauth.userInfo() }
    #expect(error?.message.contains("and said: no [removed], sorry") == true)
    #expect(error.map { !everyText(of: $0).contains(token) } == true)
  }

  @Test(arguments: SandboxUserInfoFault.allCases, [nil, SandboxSigningAlgorithm.es256])
  func `a wrong UserInfo response is rejected`(
    fault: SandboxUserInfoFault, algorithm: SandboxSigningAlgorithm?
  ) async throws {
    let party = try await OpenIDFixture(.es256) { options in
      options.clients[0].userInfoAlgorithm = algorithm
    } change: {
      $0.userInfoAlgorithm = algorithm.flatMap { JWSAlgorithm(rawValue: $0.rawValue) }
    }
    try await party.signIn()
    let info = try await party.oauth.userInfo()
    #expect(info.name == "Alice Liddell")
    party.sandbox.misbehave(at: .userInfo, .userInfo(fault), times: 2)
    // Plain JSON has no issuer and no audience.
    if algorithm == nil, fault == .otherIssuer || fault == .otherAudience {
      _ = try await party.oauth.userInfo()
      return
    }
    await failure(fault == .unauthorized ? .invalidToken : .userInfoInvalid) {
      try await party.oauth.userInfo()
    }
  }
}

import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// A FAPI 2.0 client at a sandbox that acts like the OpenID Foundation's test server.
///
/// The server's habits are legal but have broken clients: nonces with punctuation that change
/// silently after each success, refusals without a body, an issuer with a slash at its end, and
/// metadata about endpoints that the client must not use.
struct FAPI2Party {
  /// The kinds of clients in the plan, `fapi_client_type`.
  enum Kind: String, Sendable, CaseIterable, CustomStringConvertible {
    case openID = "openid"
    case plain = "plain_oauth"

    var description: String { rawValue }
    var scope: String { self == .openID ? "openid demo" : "demo" }
  }

  /// A row of the plan: the kind of client, and the rules that it follows.
  struct Variant: Sendable, CustomStringConvertible {
    let kind: Kind
    let profile: SecurityProfile

    var description: String { "\(kind), \(profile)" }

    /// The variants with plain authorization responses, with and without the SDK's profile.
    static let plain = Kind.allCases.flatMap { kind in
      [.standard, .fapi2].map { Variant(kind: kind, profile: $0) }
    }
    /// The variants of the plan for signed requests and responses.
    static let signed = Kind.allCases.map { Variant(kind: $0, profile: .fapi2MessageSigning) }
    static let all = plain + signed
    static let ofOpenID = all.filter { $0.kind == .openID }
  }

  let variant: Variant
  var kind: Kind { variant.kind }
  let bound: BoundFixture
  var sandbox: SandboxServer { bound.sandbox }
  var oauth: SQOAuth { bound.oauth }

  init(
    _ variant: Variant = Variant(kind: .openID, profile: .standard),
    changeSandbox: (inout SandboxOptions) -> Void = { _ in },
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws {
    self.variant = variant
    let isSigned = variant.profile == .fapi2MessageSigning
    var options = Self.options(isSigned ? .fapi2MessageSigning : .fapi2)
    changeSandbox(&options)
    bound = try await BoundFixture(
      .key, options, scope: variant.kind.scope, changeClient: { $0.idTokenAlgorithm = .es256 }
    ) { configuration in
      if variant.profile != .standard { configuration.tokenBinding = nil }
      configuration.profile = variant.profile
      change(&configuration)
    }
    publishMetadata()
  }

  /// Returns the settings of a sandbox that acts like the test server.
  private static func options(_ profile: SandboxSecurityProfile) -> SandboxOptions {
    var options = SandboxOptions(profile)
    if profile == .fapi2MessageSigning { options.authorizationResponseAlgorithms = [.es256] }
    options.issuerEndsWithSlash = true
    options.accessTokenLifetime = .seconds(900)
    options.pushedRequestLifetime = .seconds(600)
    options.openID.algorithms = [.es256]
    options.dpop.noncesRequiredBy = [.authorizationServer, .api]
    options.dpop.apiHasOwnNonces = true
    options.dpop.nonceForm = .punctuated
    options.dpop.renewsNonceAfterSuccess = true
    options.dpop.challengesAreBare = true
    return options
  }

  /// Publishes metadata with the test server's members and an issuer; `nil` for the right one.
  func publishMetadata(issuer: String? = nil) {
    let address = sandbox.url(.token).absoluteString.replacing("/token", with: "")
    let aliases = ["token_endpoint", "pushed_authorization_request_endpoint", "userinfo_endpoint"]
    let algorithms: SandboxJSON = ["PS256", "ES256", "EdDSA", "Ed25519"]
    var members: [(name: String, value: SandboxJSON?)] = [
      ("issuer", .string(issuer ?? sandbox.issuer.absoluteString)),
      (
        "mtls_endpoint_aliases",
        .object(aliases.map { .init($0, .string("\(address)/mtls/\($0)")) })
      ),
      ("token_endpoint_auth_signing_alg_values_supported", algorithms),
      ("dpop_signing_alg_values_supported", algorithms),
    ]
    members += missingMembers.map { ($0, nil) }
    sandbox.behave(at: .metadata)
    sandbox.misbehave(at: .metadata, .members(members), times: nil)
  }

  private var missingMembers: [String] {
    let isSigned = variant.profile == .fapi2MessageSigning
    let missing = [
      "revocation_endpoint", "introspection_endpoint", "device_authorization_endpoint",
      "end_session_endpoint", "grant_types_supported", "require_signed_request_object",
    ]
    return missing + (isSigned ? [] : ["response_modes_supported"])
      + (kind == .plain ? ["scopes_supported", "subject_types_supported"] : [])
      + (kind == .plain && !isSigned ? ["jwks_uri"] : [])
  }

  // MARK: The outcomes of a module

  /// Signs in, gets the user info if the kind is OpenID, calls the API, and checks all requests.
  @discardableResult
  func goesOn(
    challenges: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> SQToken {
    let token = try await oauth.signIn()
    if kind == .openID { _ = try await oauth.userInfo() }
    #expect(try await bound.send().status == 200, sourceLocation: sourceLocation)
    try expectNoFindings(sourceLocation: sourceLocation)
    // Each endpoint refused as many requests as `challenges` says, because its nonce had changed.
    for endpoint in used {
      #expect(
        sandbox.requests(to: endpoint).count == 1 + challenges, "\(endpoint)",
        sourceLocation: sourceLocation)
    }
    return token
  }

  private var used: [SandboxEndpoint] {
    [.pushedAuthorization, .token, .me] + (kind == .openID ? [.userInfo] : [])
  }

  /// What the test server asserts on all requests so far.
  var audit: FAPI2Audit {
    get throws {
      try FAPI2Audit(
        sandbox, clientID: BoundFixture.clientID, keyID: bound.clientKey?.keyID,
        scope: kind.scope, isSigned: variant.profile == .fapi2MessageSigning)
    }
  }

  func expectNoFindings(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try audit.expectNothing(sourceLocation: sourceLocation)
  }

  /// Checks that a wrong ID token ends the sign-in: afterwards only keys and metadata are fetched.
  func stops(
    atIDToken code: SQOAuthError.Code, _ change: SandboxMisbehaviour,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    sandbox.misbehave(at: .token, change)
    await failure(code, sourceLocation: sourceLocation) { try await oauth.signIn() }
    // The first request was refused for its nonce.
    #expect(sandbox.requests(to: .token).count == 2, sourceLocation: sourceLocation)
    let last = sandbox.requests.lastIndex { $0.endpoint == .token } ?? 0
    try await isOver(sandbox.requests.count - last - 1, sourceLocation: sourceLocation)
  }

  /// Checks that a wrong authorization response ends the sign-in: no code is redeemed.
  ///
  /// The client ignores a response that may belong to another sign-in, and waits until its time
  /// limit.
  func stops(
    atResponse code: SQOAuthError.Code, _ change: SandboxMisbehaviour,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    sandbox.misbehave(at: .authorization, change)
    _ = await bound.fixture.fail(code, sourceLocation: sourceLocation)
    #expect(sandbox.requests(to: .authorization).count == 1, sourceLocation: sourceLocation)
    let last = sandbox.requests.lastIndex { $0.endpoint == .consent } ?? 0
    try await isOver(sandbox.requests.count - last - 1, sourceLocation: sourceLocation)
    #expect(sandbox.requests(to: .token).isEmpty, sourceLocation: sourceLocation)
  }

  /// Checks that the last `count` requests fetched only keys or metadata, and that no token is used
  /// or kept.
  func isOver(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let allowed: Set<SandboxEndpoint?> = [.keys, .metadata]
    let after = sandbox.requests.suffix(count).map(\.endpoint)
    #expect(after.allSatisfy(allowed.contains), "\(after)", sourceLocation: sourceLocation)
    #expect(oauth.result.token == nil, sourceLocation: sourceLocation)
    #expect(!(try await oauth.restore()), sourceLocation: sourceLocation)
    await failure(.notAuthorized, sourceLocation: sourceLocation) { try await bound.send() }
    #expect(sandbox.requests(to: .me).isEmpty, sourceLocation: sourceLocation)
    try expectNoFindings(sourceLocation: sourceLocation)
  }
}

/// A set of rules that some servers demand of all their clients.
///
/// ```swift
/// var options = SandboxOptions(.fapi2)
/// options.clients = [SandboxClient(id: "bank-app", key: publicKey)]
/// ```
public enum SandboxSecurityProfile: Sendable, Hashable, CaseIterable {
  /// The FAPI 2.0 Security Profile, with tokens that are bound to keys.
  ///
  /// Every sign-in is pushed and uses PKCE. Clients authenticate with `private_key_jwt`, whose
  /// `aud` is the issuer, and prove possession of their key at the token endpoint and at the API.
  /// Refresh tokens are not rotated.
  ///
  /// - SeeAlso: FAPI 2.0 Security Profile, section 5.3.2
  case fapi2
  /// FAPI 2.0 with signed authorization requests and responses.
  ///
  /// - SeeAlso: FAPI 2.0 Message Signing, sections 5.3 and 5.4
  case fapi2MessageSigning
  /// Rules like the OAuth rules of AT Protocol.
  ///
  /// Every sign-in is pushed with a proof and uses PKCE. Clients are public or authenticate with
  /// `private_key_jwt`. Proofs are signed with ES256 and always contain a nonce, which changes
  /// every minute. Refresh tokens are rotated and, even for confidential clients, bound to the
  /// client's key.
  ///
  /// Two rules of AT Protocol are left out: a client's ID is not the address of its metadata, but
  /// registered as in any sandbox, and no token response contains a `sub`.
  case atProtocol
}

extension SandboxOptions {
  /// Creates the settings of a security profile.
  ///
  /// All other settings have their defaults.
  public init(_ profile: SandboxSecurityProfile) {
    self.init()
    apply(profile)
  }

  /// Changes the settings that a security profile demands, and keeps all others.
  ///
  /// It replaces all settings of ``dpop``.
  public mutating func apply(_ profile: SandboxSecurityProfile) {
    requiresPushedAuthorizationRequests = true
    requiresPKCEOfAll = true
    requiresIssuerAsAudience = true
    assertionAlgorithms = SandboxDPoPOptions().algorithms
    codeLifetime = .seconds(60)
    dpop = SandboxDPoPOptions(.required)
    switch profile {
    case .fapi2: applyFAPI()
    case .fapi2MessageSigning:
      applyFAPI()
      applyMessageSigning()
    case .atProtocol: applyATProtocol()
    }
  }

  private mutating func applyFAPI() {
    authenticationMethods = [.privateKeyJWT]
    grantTypes = ["authorization_code", "refresh_token", "client_credentials"]
    rotatesRefreshTokens = false
  }

  private mutating func applyMessageSigning() {
    requestObjectAlgorithms = assertionAlgorithms
    requiresSignedRequests = true
    requestObjectsNeedStart = true
    authorizationResponseAlgorithms = assertionAlgorithms
    requiresSignedAuthorizationResponses = true
  }

  private mutating func applyATProtocol() {
    authenticationMethods = [.none, .privateKeyJWT]
    grantTypes = ["authorization_code", "refresh_token"]
    rotatesRefreshTokens = true
    assertionAlgorithms = [.es256]
    dpop.algorithms = [.es256]
    dpop.noncesRequiredBy = [.authorizationServer, .api]
    dpop.nonceLifetime = .seconds(60)
    dpop.offersNonceInEveryAnswer = true
    dpop.requiresKeyOfSignIn = true
    dpop.bindsAllRefreshTokens = true
  }
}

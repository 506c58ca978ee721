import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Verifies what an issuer signed for one client or one resource server.
///
/// A client expects one algorithm, a resource server a few. What a header proposes is never
/// believed.
///
/// - SeeAlso: RFC 8725, section 3.1
struct IssuerSignatures: Sendable {
  let issuer: String
  /// The algorithm of the client; for a resource server, the first of those that it accepts.
  let algorithm: JWSAlgorithm
  private let otherAlgorithms: Set<JWSAlgorithm>
  private let key: Key
  private let environment: ClientEnvironment

  private enum Key: Sendable, Redacted {
    case publicKeys(SigningKeys.Source)
    case secret(Data)
  }

  /// Finds what the issuer's signatures are verified with; no request is made.
  ///
  /// Without an `algorithm`, the signatures must be by that of the client's ID tokens.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the provider has no issuer or no keys, or
  ///   the client no secret for an algorithm that needs one.
  init(
    _ configuration: ClientConfiguration, _ metadata: ProviderMetadata,
    _ environment: ClientEnvironment, algorithm registered: JWSAlgorithm? = nil
  ) throws(SQOAuthError) {
    guard let issuer = metadata.issuer else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider has no issuer, without which no ID token can be verified; use "
          + "Provider.issuer(_:), give the issuer, or leave \"openid\" out of the scope")
    }
    let algorithm =
      if let registered {
        registered
      } else {
        try configuration.idTokenAlgorithm(supported: metadata.idTokenAlgorithms)
      }
    self.issuer = issuer
    self.algorithm = algorithm
    otherAlgorithms = []
    self.environment = environment
    if algorithm.isSymmetric {
      key = .secret(try configuration.hmacKey(for: algorithm))
    } else if let uri = try metadata.address(of: .keys) {
      key = .publicKeys(
        SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout))
    } else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider names no keys (\"jwks_uri\"), without which no ID token can be verified; give "
          + "their address, or leave \"openid\" out of the scope")
    }
  }

  /// Finds what the issuer's access tokens are verified with at a resource server.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the provider has no issuer or no keys,
  ///   or if there is no algorithm, or one that needs a secret.
  init(
    ofTokensBy algorithms: Set<JWSAlgorithm>, _ configuration: ClientConfiguration,
    _ metadata: ProviderMetadata, _ environment: ClientEnvironment
  ) throws(SQOAuthError) {
    guard let issuer = metadata.issuer, let uri = try metadata.address(of: .keys) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no issuer or no keys (\"jwks_uri\"), without which no token can be "
          + "verified")
    }
    // The server's keys are public, so a secret would be no proof.
    guard let first = algorithms.min(by: { $0.rawValue < $1.rawValue }),
      !algorithms.contains(where: \.isSymmetric)
    else {
      throw SQOAuthError(
        .invalidConfiguration, "a resource server needs algorithms of public keys")
    }
    self.issuer = issuer
    algorithm = first
    otherAlgorithms = algorithms
    self.environment = environment
    key = .publicKeys(
      SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout))
  }

  /// Fetches the issuer's keys if they are not known; a failure shows at the first verification.
  func prepare() async {
    guard case .publicKeys(let source) = key else { return }
    _ = try? await environment.signingKeys.keys(of: source, environment, isAhead: true)
  }

  /// Verifies a signed text and returns its claims; the issuer's keys are fetched if need be.
  func claims(
    of compactForm: String, as kind: SignedText
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    let text = try kind.explaining { () throws(JWSFailure) in try CompactJWS(compactForm) }
    guard kind.allows(type: text.type) else { throw kind.error(.type) }
    // An algorithm that is not accepted fails against the first one.
    let algorithm = otherAlgorithms.first { $0.rawValue == text.algorithmName } ?? algorithm
    switch key {
    case .secret(let secret):
      try kind.explaining { () throws(JWSFailure) in
        try text.verify(secret: secret, algorithm: algorithm)
      }
    case .publicKeys(let source):
      try await verify(text, source, algorithm, kind)
    }
    return try kind.explaining { () throws(JWSFailure) in try text.claims() }
  }

  /// Verifies by the issuer's public keys; if none fits, they are fetched again.
  ///
  /// An issuer may have changed its keys a moment before it signed. If the keys cannot be fetched
  /// again, a text that anyone could have sent is refused as if there were no newer keys.
  private func verify(
    _ text: CompactJWS, _ source: SigningKeys.Source, _ algorithm: JWSAlgorithm,
    _ kind: SignedText
  ) async throws(SQOAuthError) {
    var keys = try await environment.signingKeys.keys(of: source, environment)
    // The issuer's keys cannot change twice while one text is verified.
    for _ in 0..<2 {
      guard let failure = Self.failure(text, keys, algorithm) else { return }
      guard failure == .noKey || failure == .badSignature,
        let newer = try await environment.signingKeys.keys(
          of: source, environment, otherThan: keys, isFromIssuer: kind.isFromIssuer)
      else { throw kind.error(failure) }
      keys = newer
    }
    if let failure = Self.failure(text, keys, algorithm) { throw kind.error(failure) }
  }

  private static func failure(
    _ text: CompactJWS, _ keys: JSONWebKeySet, _ algorithm: JWSAlgorithm
  ) -> JWSFailure? {
    do throws(JWSFailure) {
      try text.verify(with: keys, algorithm: algorithm)
      return nil
    } catch {
      return error
    }
  }
}

extension ClientConfiguration {
  /// The algorithm of the client's ID tokens.
  ///
  /// It is the algorithm that the app set. Otherwise, if the server's metadata lists a single
  /// algorithm, it is that algorithm, unless it is symmetric or unknown: then this call throws.
  /// Otherwise it is `RS256`.
  fileprivate func idTokenAlgorithm(supported: [String]?) throws(SQOAuthError) -> JWSAlgorithm {
    if let idTokenAlgorithm { return idTokenAlgorithm }
    guard let supported, supported.count == 1 else { return .rs256 }
    guard let only = JWSAlgorithm(rawValue: supported[0]), !only.isSymmetric else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the server signs ID tokens by an algorithm that the client did not ask for; if your app "
          + "is registered for it and the SDK has it, set idTokenAlgorithm")
    }
    return only
  }

  /// The key of a symmetric algorithm: the client secret.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 10.1; RFC 7518, section 3.2
  fileprivate func hmacKey(for algorithm: JWSAlgorithm) throws(SQOAuthError) -> Data {
    let key = Data((clientSecret ?? "").utf8)
    guard key.count >= algorithm.digestSize else {
      throw SQOAuthError(
        .openIDUnsupported,
        "ID tokens by \(algorithm.rawValue) need a client secret of at least "
          + "\(algorithm.digestSize) bytes; ask the provider for a longer one, or set another "
          + "idTokenAlgorithm")
    }
    return key
  }
}

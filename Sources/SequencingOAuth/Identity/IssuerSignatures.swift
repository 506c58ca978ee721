import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Verifies what an issuer signed for one client or one resource server.
///
/// It accepts a few algorithms, which the app or the issuer's metadata names. A header chooses one
/// of them, and the key must fit it. What else a header proposes is never believed.
///
/// - SeeAlso: RFC 8725, section 3.1
package struct IssuerSignatures: Sendable {
  package let issuer: String
  private let algorithms: Set<JWSAlgorithm>
  private let keys: SigningKeys.Source?
  private let secret: Secret?
  private let environment: ClientEnvironment

  private struct Secret: Sendable, Redacted {
    let bytes: Data
  }

  /// Finds what a client's signed texts of a kind are verified with; no request is made.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the provider has no issuer, no keys or no
  ///   algorithm that the SDK knows, or the client no secret for an algorithm that needs one.
  package init(
    _ configuration: ClientConfiguration, _ metadata: ProviderMetadata,
    _ environment: ClientEnvironment, for kind: SignedText = .idToken
  ) throws(SQOAuthError) {
    guard let issuer = metadata.issuer else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider has no issuer, without which no ID token can be verified; use "
          + "Provider.issuer(_:), give the issuer, or leave \"openid\" out of the scope")
    }
    algorithms = try configuration.algorithms(of: kind, metadata)
    self.issuer = issuer
    self.environment = environment
    let symmetric = algorithms.first(where: \.isSymmetric)
    secret = try symmetric.map { algorithm throws(SQOAuthError) in
      Secret(bytes: try configuration.hmacKey(for: algorithm))
    }
    guard !algorithms.allSatisfy(\.isSymmetric) else {
      keys = nil
      return
    }
    guard let uri = try metadata.address(of: .keys) else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider names no keys (\"jwks_uri\"), without which no ID token can be verified; give "
          + "their address, or leave \"openid\" out of the scope")
    }
    keys = SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout)
  }

  /// Finds what the issuer's access tokens are verified with at a resource server.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the provider has no issuer or no keys,
  ///   or if there is no algorithm, or one that needs a secret.
  package init(
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
    guard !algorithms.isEmpty, !algorithms.contains(where: \.isSymmetric) else {
      throw SQOAuthError(
        .invalidConfiguration, "a resource server needs algorithms of public keys")
    }
    self.issuer = issuer
    self.algorithms = algorithms
    self.environment = environment
    secret = nil
    keys = SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout)
  }

  /// Fetches the issuer's keys if they are not known; a failure shows at the first verification.
  func prepare() async {
    guard let keys else { return }
    _ = try? await environment.signingKeys.keys(of: keys, environment, isAhead: true)
  }

  /// Verifies a signed text and returns its claims; the issuer's keys are fetched if need be.
  package func claims(
    of compactForm: String, as kind: SignedText
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    try await claims(of: try kind.read(compactForm), as: kind).claims
  }

  /// Verifies a signed text; returns its claims, and the algorithm of its signature.
  package func claims(
    of text: CompactJWS, as kind: SignedText
  ) async throws(SQOAuthError) -> (claims: [String: JSONValue], algorithm: JWSAlgorithm) {
    guard let algorithm = JWSAlgorithm(named: text.algorithmName), algorithms.contains(algorithm)
    else {
      throw kind.error(.algorithm(found: text.algorithmName))
    }
    if algorithm.isSymmetric {
      try kind.explaining { () throws(JWSFailure) in
        try text.verify(secret: secret?.bytes ?? Data(), algorithm: algorithm)
      }
    } else if let keys {
      try await verify(text, keys, algorithm, kind)
    } else {
      throw kind.error(.noKey)
    }
    return (try kind.explaining { () throws(JWSFailure) in try text.claims() }, algorithm)
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
  /// The algorithms by which a text of a kind may be signed for the client.
  fileprivate func algorithms(
    of kind: SignedText, _ metadata: ProviderMetadata
  ) throws(SQOAuthError) -> Set<JWSAlgorithm> {
    guard case .userInfo = kind else { return try idTokenAlgorithms(metadata) }
    if let userInfoAlgorithm { return [userInfoAlgorithm] }
    let listed = JWSAlgorithm.publicKeyAlgorithms(in: metadata.userInfoAlgorithms)
    guard !listed.isEmpty else { return try idTokenAlgorithms(metadata) }
    // A provider may sign both texts in the way for which the client is registered.
    return idTokenAlgorithm.map { listed.union([$0]) } ?? listed
  }

  /// The algorithms of the client's ID tokens and logout tokens.
  ///
  /// It is the algorithm that the app set. Otherwise it is any of those in the server's metadata
  /// whose keys are public, and without such a list `RS256`.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
  private func idTokenAlgorithms(
    _ metadata: ProviderMetadata
  ) throws(SQOAuthError) -> Set<JWSAlgorithm> {
    if let idTokenAlgorithm { return [idTokenAlgorithm] }
    guard let names = metadata.idTokenAlgorithms, !names.isEmpty else { return [.rs256] }
    let listed = JWSAlgorithm.publicKeyAlgorithms(in: names)
    guard !listed.isEmpty else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the server signs ID tokens by no algorithm that the client could expect unasked; if your "
          + "app is registered for one and the SDK has it, set idTokenAlgorithm")
    }
    return listed
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

extension JWSAlgorithm {
  /// The algorithms of public keys in a list of names; the others need the app's word.
  fileprivate static func publicKeyAlgorithms(in names: [String]?) -> Set<JWSAlgorithm> {
    Set((names ?? []).compactMap(JWSAlgorithm.init(named:)).filter { !$0.isSymmetric })
  }
}

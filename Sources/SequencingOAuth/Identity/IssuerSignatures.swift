import SQBasics
import SQFoundation

/// A verifier for the texts that an issuer signs for one client or one resource server.
///
/// It accepts only the algorithms that the app or the issuer's metadata names, or `RS256` if they
/// name none. The header of a text chooses one of them, and the key must match it. A key in the
/// header, or the address of a key, is ignored.
///
/// - SeeAlso: RFC 8725, section 3.1
package struct IssuerSignatures: Sendable {
  package let issuer: String
  private let algorithms: Set<JWSAlgorithm>
  private let keys: SigningKeys.Source?
  /// The issuers of a provider with tenants; `nil` if ``issuer`` is the only one.
  private let tenants: IssuerTemplate?
  private let secret: Secret?
  /// Why the issuer's own list of algorithms is not known; `nil` if it is, or is not needed.
  private let listOutage: SQOAuthError?
  private let environment: ClientEnvironment

  private struct Secret: Sendable, Redacted {
    let bytes: Data
  }

  /// Creates the verifier for one kind of text that the issuer signs for a client; sends no
  /// request.
  ///
  /// - Throws: ``SQOAuthError/Code/openIDUnsupported`` if the provider has no issuer, no keys or no
  ///   algorithm that the client accepts, or if an algorithm needs a secret that the client lacks;
  ///   the reason if the address of the keys cannot be used.
  package init(
    _ configuration: ClientConfiguration, _ metadata: ProviderMetadata,
    _ environment: ClientEnvironment, for kind: SignedText = .idToken
  ) throws(SQOAuthError) {
    guard let issuer = metadata.issuer else {
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider has no issuer, so nothing that it signs can be verified; use "
          + "Provider.issuer(_:), give the issuer, or leave \"openid\" out of the scope")
    }
    algorithms = try configuration.algorithms(of: kind, metadata)
    listOutage = configuration.usesList(of: kind) ? metadata.algorithmsOutage : nil
    self.issuer = issuer
    self.environment = environment
    tenants = configuration.provider.idTokenIssuer
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
        "the provider names no keys (\"jwks_uri\"), so nothing that it signs can be verified; give "
          + "their address, or leave \"openid\" out of the scope")
    }
    keys = SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout)
  }

  /// Creates the verifier for texts with public-key signatures, such as access tokens at a resource
  /// server.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the provider has no issuer or no keys,
  ///   if the set of algorithms is empty, or if an algorithm needs a secret; the reason if the
  ///   address of the keys cannot be used.
  package init(
    ofTokensBy algorithms: Set<JWSAlgorithm>, _ configuration: ClientConfiguration,
    _ metadata: ProviderMetadata, _ environment: ClientEnvironment
  ) throws(SQOAuthError) {
    guard let issuer = metadata.issuer, let uri = try metadata.address(of: .keys) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no issuer or no keys (\"jwks_uri\"), so nothing that it signs can be "
          + "verified")
    }
    // The issuer's keys are public, so a symmetric signature with one of them would prove nothing.
    guard !algorithms.isEmpty, !algorithms.contains(where: \.isSymmetric) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "name at least one algorithm for the server's signatures, and only public-key algorithms, "
          + "such as RS256 or ES256")
    }
    self.issuer = issuer
    self.algorithms = algorithms
    self.environment = environment
    tenants = configuration.provider.idTokenIssuer
    secret = nil
    listOutage = nil
    keys = SigningKeys.Source(issuer: issuer, uri: uri, timeout: configuration.timeout)
  }

  /// Returns the issuer that a text with these claims must name; `nil` if they name no tenant that
  /// the provider's configuration allows.
  package func issuer(of claims: [String: JSONValue]) -> String? {
    guard let tenants else { return issuer }
    return tenants.issuer(of: claims)
  }

  /// Fetches the issuer's keys if they are not in memory or no longer fresh.
  ///
  /// A failure is ignored; the first verification tries again.
  func prepare() async {
    guard let keys else { return }
    _ = try? await environment.signingKeys.keys(of: keys, environment, isAhead: true)
  }

  /// Fetches the issuer's keys if they are not in memory or no longer fresh.
  ///
  /// - Throws: The error of the request; ``SQOAuthError/Code/invalidResponse`` if none of the keys
  ///   fits any of the algorithms.
  package func requireKeys() async throws(SQOAuthError) {
    guard let source = keys else { return }
    var keys = try await environment.signingKeys.keys(of: source, environment)
    if !keys.hasKey(for: algorithms),
      let newer = try await environment.signingKeys.keys(
        of: source, environment, otherThan: keys, isFromIssuer: false)
    {
      keys = newer
    }
    guard keys.hasKey(for: algorithms) else {
      throw SQOAuthError(
        .invalidResponse,
        "the issuer's set of keys has none for "
          + algorithms.map(\.rawValue).sorted().joined(separator: ", ")
          + ", so no signature can be verified")
    }
  }

  /// Returns the issuer's keys, fetched if they are not in memory or no longer fresh; `nil` if the
  /// issuer's texts are verified only with a secret.
  package func currentKeys() async throws(SQOAuthError) -> IssuerKeys? {
    guard let keys else { return nil }
    return IssuerKeys(set: try await environment.signingKeys.keys(of: keys, environment))
  }

  /// Verifies a signed text, and returns its claims.
  ///
  /// The issuer's keys are fetched if needed.
  package func claims(
    of compactForm: String, as kind: SignedText
  ) async throws(SQOAuthError) -> [String: JSONValue] {
    try await claims(of: try kind.read(compactForm), as: kind).claims
  }

  /// Verifies a signed text, and returns its claims, the algorithm of its signature, and the keys
  /// that verified it.
  ///
  /// The keys are `nil` if the text was verified with a secret.
  package func claims(
    of text: CompactJWS, as kind: SignedText
  ) async throws(SQOAuthError) -> (
    claims: [String: JSONValue], algorithm: JWSAlgorithm, keys: IssuerKeys?
  ) {
    let named = JWSAlgorithm(named: text.algorithmName)
    guard let algorithm = named, algorithms.contains(algorithm) else {
      // The list that could not be read may have this algorithm.
      if named?.isSymmetric == false, let listOutage { throw listOutage }
      throw kind.error(.algorithm(found: text.algorithmName))
    }
    var verifying: IssuerKeys?
    if algorithm.isSymmetric {
      try kind.explaining { () throws(JWSFailure) in
        try text.verify(secret: secret?.bytes ?? Data(), algorithm: algorithm)
      }
    } else if let keys {
      verifying = IssuerKeys(set: try await verify(text, keys, algorithm, kind))
    } else {
      throw kind.error(.noKey)
    }
    let claims = try kind.explaining { () throws(JWSFailure) in try text.claims() }
    return (claims, algorithm, verifying)
  }

  /// Verifies a text with the issuer's public keys, and returns these keys; if none matches, the
  /// keys are fetched again.
  ///
  /// The issuer may have changed its keys just before it signed. If the keys cannot be fetched
  /// again, a text that anyone could have sent is rejected as if there were no newer keys.
  private func verify(
    _ text: CompactJWS, _ source: SigningKeys.Source, _ algorithm: JWSAlgorithm,
    _ kind: SignedText
  ) async throws(SQOAuthError) -> JSONWebKeySet {
    var keys = try await environment.signingKeys.keys(of: source, environment)
    // The issuer is not expected to change its keys more than twice while one text is verified.
    for _ in 0..<2 {
      guard let failure = failure(text, keys, algorithm) else { return keys }
      guard failure == .noKey || failure == .badSignature,
        let newer = try await environment.signingKeys.keys(
          of: source, environment, otherThan: keys, isFromIssuer: kind.isFromIssuer)
      else { throw kind.error(failure) }
      keys = newer
    }
    if let failure = failure(text, keys, algorithm) { throw kind.error(failure) }
    return keys
  }

  private func failure(
    _ text: CompactJWS, _ keys: JSONWebKeySet, _ algorithm: JWSAlgorithm
  ) -> JWSFailure? {
    do throws(JWSFailure) {
      var keys = keys
      if let tenants {
        // The text is not verified yet; its issuer only decides which keys may verify it.
        keys = keys.keys(for: [try text.claims()["iss"].string ?? "", tenants.text])
      }
      try text.verify(with: keys, algorithm: algorithm)
      return nil
    } catch {
      return error
    }
  }
}

/// The public keys of an issuer at one time.
///
/// While the issuer's keys do not change, a text that they verified stays verified.
package struct IssuerKeys: Sendable, Hashable {
  fileprivate let set: JSONWebKeySet

  /// Returns whether two values are copies of the same value, without comparing the keys.
  package func isCopy(of other: Self) -> Bool { set.isCopy(of: other.set) }
}

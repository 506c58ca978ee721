import SQBasics
import SQFoundation

// The algorithms and the secret key by which a provider may sign for the client.
extension ClientConfiguration {
  /// Returns the algorithms with which the provider may sign texts of this kind for the client.
  func algorithms(
    of kind: SignedText, _ metadata: ProviderMetadata
  ) throws(SQOAuthError) -> Set<JWSAlgorithm> {
    let allowed = try usualAlgorithms(of: kind, metadata)
    guard let profiles = profile.algorithms else { return allowed }
    let both = allowed.intersection(profiles)
    guard !both.isEmpty else {
      if usesList(of: kind), let outage = metadata.algorithmsOutage { throw outage }
      throw SQOAuthError(
        .openIDUnsupported,
        "the provider signs its texts with none of the algorithms that the client's profile allows "
          + "(PS256, ES256, EdDSA)")
    }
    return both
  }

  /// Whether the algorithms of this kind come from the issuer's list, not from the app.
  func usesList(of kind: SignedText) -> Bool {
    guard case .userInfo = kind else { return idTokenAlgorithm == nil }
    return userInfoAlgorithm == nil
  }

  private func usualAlgorithms(
    of kind: SignedText, _ metadata: ProviderMetadata
  ) throws(SQOAuthError) -> Set<JWSAlgorithm> {
    guard case .userInfo = kind else { return try idTokenAlgorithms(metadata) }
    if let userInfoAlgorithm { return [userInfoAlgorithm] }
    let listed = JWSAlgorithm.publicKeyAlgorithms(in: metadata.userInfoAlgorithms)
    guard !listed.isEmpty else { return try idTokenAlgorithms(metadata) }
    // A provider may also sign UserInfo responses with the algorithm that is registered for the
    // client's ID tokens.
    return idTokenAlgorithm.map { listed.union([$0]) } ?? listed
  }

  /// Returns the algorithms that may sign the client's ID tokens and logout tokens.
  ///
  /// If the app set an algorithm, the result is that algorithm. Otherwise, it is the public-key
  /// algorithms in the server's metadata, or `RS256` if the metadata has no list.
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
        "the SDK accepts none of the server's algorithms for ID tokens by default; if your "
          + "app is registered for one that the SDK supports, set idTokenAlgorithm")
    }
    return listed
  }

  /// Returns the key of a symmetric algorithm: the client secret.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 10.1; RFC 7518, section 3.2
  func hmacKey(for algorithm: JWSAlgorithm) throws(SQOAuthError) -> Data {
    let key = Data((clientSecret ?? "").utf8)
    guard key.count >= algorithm.digestSize else {
      throw SQOAuthError(
        .openIDUnsupported,
        "signatures by \(algorithm.rawValue) need a client secret of at least "
          + "\(algorithm.digestSize) bytes; ask the provider for a longer one, or set another "
          + "idTokenAlgorithm or userInfoAlgorithm")
    }
    return key
  }
}

extension JWSAlgorithm {
  /// Returns the public-key algorithms in a list of names.
  ///
  /// Symmetric algorithms are accepted only if the app sets one.
  fileprivate static func publicKeyAlgorithms(in names: [String]?) -> Set<JWSAlgorithm> {
    all(in: names).filter { !$0.isSymmetric }
  }
}

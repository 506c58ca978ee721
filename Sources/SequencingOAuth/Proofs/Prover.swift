import SQBasics
import SQCrypto
import SQFoundation

/// An account's proof key, with the nonces and the clock for creating DPoP proofs.
package struct Prover: Sendable {
  /// A proof for one attempt to send one request.
  package struct Proof: Sendable, Redacted {
    /// The value of the field `DPoP`.
    package let text: String
    let server: ProofServers.Server
    let nonce: String?
  }

  private let key: ProofKey
  /// The app's own key; `nil` if the store has the account's key.
  private let appKey: ClientKey?
  private let servers: ProofServers
  private let clock: any WallClock

  /// Creates a prover with an account's key.
  ///
  /// `appKey` is the key in the configuration. It is used only if the store does not have the
  /// account's key.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the store does not have the account's
  ///   key, and `appKey` is missing or is a different key.
  init(
    _ key: ProofKey, appKey: ClientKey?, _ servers: ProofServers, _ clock: any WallClock
  ) throws(SQOAuthError) {
    if key.pair == nil {
      guard let appKey, let name = try? ProofKey(ofApp: appKey), name == key else {
        throw SQOAuthError(
          .invalidConfiguration,
          "the account's tokens are bound to a key of the app's own, and the configuration lacks "
            + "it (tokenBinding); configure that key, or sign in again")
      }
      self.appKey = appKey
    } else {
      self.appKey = nil
    }
    self.key = key
    self.servers = servers
    self.clock = clock
  }

  /// Creates a proof for a request, with the newest nonce of its server.
  ///
  /// `token` is the access token that the request carries to a resource server.
  func proof(
    of method: String, _ url: URL, to role: ProofServers.Role, token: String? = nil
  ) async throws(SQOAuthError) -> Proof {
    let target = try RequestTarget(url)
    let server = ProofServers.Server(target, role)
    let known = servers.known(server)
    let claims = DPoPProof(
      method, target, at: clock.now(of: known.clockLead), nonce: known.nonce, token: token)
    return Proof(text: try await signed(claims), server: server, nonce: known.nonce)
  }

  private func signed(_ claims: DPoPProof) async throws(SQOAuthError) -> String {
    if let pair = key.pair {
      let input = claims.signingInput(header: pair.header)
      guard let scheme = JWSAlgorithm(named: key.algorithm)?.scheme,
        let signature = pair.privateKey.signature(of: Data(input.utf8), by: scheme)
      else {
        throw couldNotSign
      }
      return input + "." + Base64URL.encode(signature)
    }
    guard let appKey, let members = appKey.publicMembers else {
      throw .unusableClientKey("it has no public half")
    }
    let input = claims.signingInput(
      header: ProofKey.header(algorithm: key.algorithm, publicMembers: members))
    return input + "." + Base64URL.encode(try await appKey.signature(of: Data(input.utf8)))
  }

  /// The error for a key that cannot sign: the account's record names an algorithm that does not
  /// fit the key, or libcrypto could not sign.
  private var couldNotSign: SQOAuthError {
    let kind = JWSAlgorithm(named: key.algorithm)?.scheme?.keyKind
    guard kind == nil || kind != key.pair?.privateKey.kind else {
      return SQOAuthError(
        .clientKeyFailed,
        OpenSSL.explained(
          "libcrypto could not sign with the account's key", needing: kind?.algorithm))
    }
    return SQOAuthError(
      .clientKeyFailed,
      "the account's key cannot sign by \(key.algorithm.printable), the algorithm in its record; the "
        + "record was edited: restore it, or sign in again")
  }

  /// Remembers the nonce in the response to a request with a proof.
  func learn(_ fields: HeaderFields, to proof: Proof) {
    servers.learn(fields, from: proof.server)
  }

  /// Returns whether the server may accept a new proof after it rejected one.
  ///
  /// A new proof can help if the server has sent a different nonce, or if its clock differs from
  /// the time in the proof. It can also help with `mayHaveBeenRepeated`, which means that the
  /// transport may have sent the request twice with the same proof: a server that closed the
  /// connection after the first copy may reject the second copy's proof as already used.
  /// ``ProofRepeats`` limits the attempts.
  ///
  /// - SeeAlso: RFC 9449, sections 8, 9 and 11.1; RFC 9110, section 9.2.2
  func canImprove(
    _ proof: Proof, after error: SQOAuthError.Code?, _ fields: HeaderFields,
    mayHaveBeenRepeated: Bool = false
  ) -> Bool {
    switch error {
    case .useDPoPNonce:
      // Learn the server's time too: with a wrong clock, the server would refuse the next proof as
      // well.
      _ = servers.learnTime(fields, from: proof.server, by: clock)
      let nonce = servers.known(proof.server).nonce
      return nonce != nil && nonce != proof.nonce
    case .invalidDPoPProof:
      // Some servers use this code to demand a nonce, and send the nonce with it.
      let nonce = servers.known(proof.server).nonce
      return servers.learnTime(fields, from: proof.server, by: clock) || mayHaveBeenRepeated
        || fields[ProofAdvice.nonceField] != nil && nonce != proof.nonce
    default:
      return false
    }
  }
}

extension ProofKey {
  /// Creates a new key for an account's tokens, or a reference to the app's own key.
  ///
  /// If the binding names no algorithm, the server's list determines the algorithm.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server does not list the algorithm;
  ///   the error for a key that cannot be created or used.
  init(_ binding: TokenBinding, supported: [String]?) throws(SQOAuthError) {
    switch binding {
    case .certificate: throw .unusableClientKey("a certificate signs no proofs")
    case .dpop(let algorithm):
      let algorithm = try Self.algorithm(algorithm, supported)
      guard let scheme = algorithm.scheme else {
        throw .unusableClientKey(
          "\(algorithm.rawValue) needs a shared secret, but a proof is signed with a private key")
      }
      guard let key = PrivateKey(generating: scheme.keyKind) else {
        throw .cannotMakeKey(scheme.keyKind)
      }
      self.init(key, algorithm: algorithm.name(in: supported))
    case .dpopKey(let key):
      let algorithm = try Self.algorithm(key.algorithm, supported)
      try self.init(ofApp: key, as: algorithm.name(in: supported))
    }
  }

  /// Creates a reference to an app's own key, with its thumbprint.
  ///
  /// `algorithm` is the name of the key's algorithm in the header of proofs.
  init(ofApp key: ClientKey, as algorithm: String? = nil) throws(SQOAuthError) {
    guard let members = key.publicMembers else {
      throw .unusableClientKey(
        "a key that signs proofs needs its public half; create the ClientKey with its publicJWK")
    }
    self.init(
      ofApp: JWKThumbprint.of(members), algorithm: algorithm ?? key.algorithm.rawValue)
  }

  /// The algorithms to try if the app names none, the most usual one first.
  private static let usual: [JWSAlgorithm] = [.es256, .edDSA, .ps256]

  private static func algorithm(
    _ chosen: JWSAlgorithm?, _ supported: [String]?
  ) throws(SQOAuthError) -> JWSAlgorithm {
    guard let supported else { return chosen ?? .es256 }
    let known = JWSAlgorithm.all(in: supported)
    guard let algorithm = (chosen.map { [$0] } ?? usual).first(where: known.contains) else {
      throw SQOAuthError(
        .signInUnsupported,
        "the server's metadata does not list "
          + (chosen.map { "the algorithm \($0.rawValue)" } ?? "ES256, EdDSA or PS256")
          + " for proofs (dpop_signing_alg_values_supported)")
    }
    return algorithm
  }
}

extension ClientKey {
  /// The members that determine the public key; `nil` for a remote key without a public half.
  var publicMembers: [String: String]? {
    publicJWK?.object.map(JSONWebKey.identifyingMembers(of:))
  }
}

import SQFoundation

/// Functions that verify the proof of possession in a request.
///
/// - SeeAlso: RFC 9449, section 4.3
enum Proofs {
  /// Verifies the request's proof, records it as used, and returns its key's thumbprint.
  ///
  /// Returns `nil` if the request has no proof or if the sandbox ignores proofs. `token` is the
  /// request's access token; a proof for the API must contain its hash.
  static func key(
    of request: ProvableRequest, for party: SandboxDPoPOptions.Party, token: String? = nil,
    _ sandbox: inout SandboxState
  ) throws(ProofFault) -> String? {
    let proofs = request.proofs
    guard sandbox.options.dpop.isOn, let text = proofs.first else { return nil }
    guard proofs.count == 1 else { throw .invalid("The field DPoP came more than once.") }
    guard let proof = SandboxProof(text) else {
      throw .invalid("The field DPoP is not a signed JWT.")
    }
    let key = try signer(of: proof, sandbox)
    try check(proof, request)
    if let token {
      guard proof.accessTokenHash == Crypto.digest(of: token) else {
        throw .invalid("ath is not the hash of the access token.")
      }
    }
    if sandbox.options.dpop.noncesRequiredBy.contains(party) {
      guard sandbox.proofNonces.accepts(proof.nonce, for: party, sandbox) else {
        throw .nonceRequired
      }
    }
    try checkTimeAndUse(proof, &sandbox)
    return key.thumbprint
  }

  /// Returns the key that signed a proof.
  private static func signer(
    of proof: SandboxProof, _ sandbox: SandboxState
  ) throws(ProofFault) -> ProofKey {
    guard proof.type == "dpop+jwt" else { throw .invalid("typ is not dpop+jwt.") }
    guard let algorithm = proof.jwt.algorithm, !algorithm.usesSecret,
      sandbox.options.dpop.algorithms.contains(algorithm)
    else {
      let names = sandbox.options.dpop.algorithmNames.joined(separator: ", ")
      throw .invalid("alg must be one of these: \(names).")
    }
    guard proof.jwt.header["crit"] == nil else {
      throw .invalid("crit names an unknown extension.")
    }
    let key = try ProofKey(proof.jwt.header["jwk"], algorithm)
    guard key.hasSigned(proof.jwt) else { throw .invalid("The signature is wrong.") }
    return key
  }

  /// Checks that a proof has the method and the address of the request.
  private static func check(
    _ proof: SandboxProof, _ request: ProvableRequest
  ) throws(ProofFault) {
    guard proof.method == request.method else {
      throw .invalid("htm is not the method of the request.")
    }
    guard let named = proof.url.flatMap(ProofURL.init), named == ProofURL(request.address) else {
      throw .invalid("htu is not the address of the request.")
    }
  }

  private static func checkTimeAndUse(
    _ proof: SandboxProof, _ sandbox: inout SandboxState
  ) throws(ProofFault) {
    let options = sandbox.options.dpop
    let now = sandbox.seconds
    guard let issued = proof.issued else { throw .invalid("iat is missing or not an integer.") }
    guard issued >= now - options.proofLifetime.wholeSeconds else {
      throw .invalid("iat is too far in the past.")
    }
    guard issued <= now + options.clockTolerance.wholeSeconds else {
      throw .invalid("iat is in the future.")
    }
    guard let id = proof.id, !id.isEmpty else { throw .invalid("jti is missing.") }
    let end = issued + options.proofLifetime.wholeSeconds
    guard sandbox.usedProofs.note(id, until: end, now: now) else {
      throw .invalid("A proof with this jti was used before.")
    }
  }
}

/// Functions that make a faulty answer.
extension SandboxDPoPFault {
  /// Returns the faulty answer to a request; some faults process the request and change its answer.
  func answer(
    _ request: SandboxRequest, _ sandbox: inout SandboxState,
    process: (SandboxRequest, inout SandboxState) -> Answer
  ) -> Answer {
    guard let party = request.endpoint?.proofParty else { return process(request, &sandbox) }
    switch self {
    case .otherKey, .bearerToken:
      return process(request.with(proofFault: self), &sandbox)
    case .nonceInSuccess:
      var answer = process(request, &sandbox)
      answer.offer(sandbox.nonceField(of: party))
      return answer
    case .proofRefused:
      return refusal(.invalid("A test asked the sandbox for this error."), party, sandbox)
    default:
      var answer = refusal(.nonceRequired, party, sandbox)
      answer.headers.removeAll { $0.name == "DPoP-Nonce" }
      answer.headers += nonces(party, sandbox).map { ("DPoP-Nonce", $0) }
      return answer
    }
  }

  private func refusal(
    _ fault: ProofFault, _ party: SandboxDPoPOptions.Party, _ sandbox: SandboxState
  ) -> Answer {
    switch party {
    case .authorizationServer: OAuthFault(fault, sandbox).answer
    case .api: TokenRefusal(fault, sandbox).answer
    }
  }

  /// Returns the values of `DPoP-Nonce` in an answer that asks for a nonce.
  private func nonces(_ party: SandboxDPoPOptions.Party, _ sandbox: SandboxState) -> [String] {
    switch self {
    case .nonceLoop: [Crypto.secret("nonce-")]
    case .nonceDoubled:
      [sandbox.proofNonces.current(for: party, sandbox), Crypto.secret("nonce-")]
    case .nonceEmpty: [""]
    // RFC 9449, section 8.1: a nonce has no spaces, quotes and backslashes.
    case .nonceMalformed: [#"a "nonce" with \ and é"#]
    case .nonceTooLong: [String(repeating: "n", count: 16 * 1024)]
    default: []
    }
  }
}

extension SandboxRequest {
  /// The key that new tokens are bound to: the proven key, unless a misbehaviour replaces it.
  var tokenKey: String? {
    switch proofFault {
    case .bearerToken: nil
    case .otherKey: provenKey.map { _ in Crypto.digest(of: "another key") }
    default: provenKey
    }
  }
}

/// The reason why a proof is rejected.
///
/// - SeeAlso: RFC 9449, sections 5, 7.1 and 8
enum ProofFault: Error, Equatable {
  /// The proof is missing or wrong: `invalid_dpop_proof`.
  case invalid(String)
  /// The proof has no nonce or an old one: `use_dpop_nonce`.
  case nonceRequired

  var code: String {
    switch self {
    case .invalid: "invalid_dpop_proof"
    case .nonceRequired: "use_dpop_nonce"
    }
  }

  var message: String {
    switch self {
    case .invalid(let message): message
    case .nonceRequired: "The proof needs the nonce in the field DPoP-Nonce."
    }
  }

  /// Returns the field with the nonce for the next proof; `nil` unless the proof needs a new nonce.
  func nonceField(
    of party: SandboxDPoPOptions.Party, _ sandbox: SandboxState
  ) -> SandboxParameter? {
    self == .nonceRequired ? sandbox.nonceField(of: party) : nil
  }
}

extension OAuthFault {
  /// Creates the error for the token endpoint or the endpoint for pushed requests.
  init(_ fault: ProofFault, _ sandbox: SandboxState) {
    self.init(
      code: fault.code, description: fault.message,
      nonceField: fault.nonceField(of: .authorizationServer, sandbox))
  }
}

extension TokenRefusal {
  /// Creates the error for the protected API.
  init(_ fault: ProofFault, _ sandbox: SandboxState) {
    self.init(401, fault.code, fault.message, scheme: .dpop(sandbox.options.dpop))
    nonceField = fault.nonceField(of: .api, sandbox)
  }
}

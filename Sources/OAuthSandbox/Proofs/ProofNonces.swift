import SQBasics
import SQFoundation

/// The nonces that the sandbox offers, which change with its clock.
///
/// A nonce is a hash of a secret and the number of a period, so none has to be stored.
///
/// - SeeAlso: RFC 9449, section 8
struct ProofNonces: Redacted {
  private let secret = Crypto.secret("")

  /// Returns the nonce of the current period.
  func current(for party: SandboxDPoPOptions.Party, _ sandbox: SandboxState) -> String {
    nonce(for: party, periodsAgo: 0, sandbox)
  }

  /// Returns whether a nonce is that of the current or the previous period.
  func accepts(
    _ nonce: String?, for party: SandboxDPoPOptions.Party, _ sandbox: SandboxState
  ) -> Bool {
    (0...1).contains { self.nonce(for: party, periodsAgo: $0, sandbox) == nonce }
  }

  private func nonce(
    for party: SandboxDPoPOptions.Party, periodsAgo: Int, _ sandbox: SandboxState
  ) -> String {
    let options = sandbox.options.dpop
    let period = sandbox.seconds / max(1, options.nonceLifetime.wholeSeconds) - periodsAgo
    let owner = options.apiHasOwnNonces && party == .api ? "api" : "sandbox"
    return Crypto.digest(of: Data("\(secret) \(owner) \(period)".utf8))
  }
}

extension SandboxServer {
  /// Returns the nonce that a party offers now, whether or not it requires nonces.
  public func proofNonce(of party: SandboxDPoPOptions.Party) -> String {
    core.withState { $0.proofNonces.current(for: party, $0) }
  }
}

extension Answer {
  /// Adds the nonce that the sandbox offers in every answer, if it does.
  mutating func offerNonce(for request: SandboxRequest, _ sandbox: SandboxState) {
    let options = sandbox.options.dpop
    guard options.isOn, options.offersNonceInEveryAnswer,
      let party = request.endpoint?.proofParty, options.noncesRequiredBy.contains(party),
      !headers.contains(where: { $0.name == "DPoP-Nonce" })
    else { return }
    headers.append(("DPoP-Nonce", sandbox.proofNonces.current(for: party, sandbox)))
  }
}

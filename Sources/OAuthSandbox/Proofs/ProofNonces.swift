import SQBasics
import SQFoundation

/// The nonces that the sandbox offers, which change with its clock.
///
/// A nonce is a hash of a secret, the number of a period and the number of renewals, so none has to
/// be stored.
///
/// - SeeAlso: RFC 9449, section 8
struct ProofNonces: Redacted {
  private let secret = Crypto.secret("")
  /// How often a nonce was renewed before the end of a period, by its owner: `sandbox` or `api`.
  private var renewals: [String: Int] = [:]

  /// The punctuation that a nonce may have: everything but quotation marks and backslashes.
  ///
  /// - SeeAlso: RFC 9449, section 8.1
  private static let punctuation = "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"

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

  /// Replaces the nonce of a party before the end of the period.
  mutating func renew(for party: SandboxDPoPOptions.Party, _ options: SandboxDPoPOptions) {
    renewals[Self.owner(party, options), default: 0] += 1
  }

  private static func owner(
    _ party: SandboxDPoPOptions.Party, _ options: SandboxDPoPOptions
  ) -> String {
    options.apiHasOwnNonces && party == .api ? "api" : "sandbox"
  }

  private func nonce(
    for party: SandboxDPoPOptions.Party, periodsAgo: Int, _ sandbox: SandboxState
  ) -> String {
    let options = sandbox.options.dpop
    let period = sandbox.seconds / max(1, options.nonceLifetime.wholeSeconds) - periodsAgo
    let owner = Self.owner(party, options)
    let name = "\(secret) \(owner) \(period) \(renewals[owner, default: 0])"
    let hash = Crypto.digest(of: name)
    switch options.nonceForm {
    case .plain: return hash
    case .punctuated:
      // The punctuation is in the middle, so a client that splits or trims the field sends back a
      // wrong nonce.
      let more = Crypto.digest(of: hash)
      return "\(hash.prefix(30))\(Self.punctuation)\(more.prefix(30))"
    }
  }
}

extension SandboxServer {
  /// Returns the nonce that a party offers now, whether or not it requires nonces.
  public func proofNonce(of party: SandboxDPoPOptions.Party) -> String {
    core.withState { $0.proofNonces.current(for: party, $0) }
  }
}

extension SandboxState {
  /// Returns the field with the nonce that a party offers now.
  func nonceField(of party: SandboxDPoPOptions.Party) -> SandboxParameter {
    SandboxParameter(name: "DPoP-Nonce", value: proofNonces.current(for: party, self))
  }

  /// Renews a party's nonce after a successful request, if the options say so, and returns the
  /// field with the current nonce.
  ///
  /// Returns `nil` if the party does not offer a nonce in every answer.
  mutating func nonceField(
    afterRequestTo party: SandboxDPoPOptions.Party, succeeded: Bool
  ) -> SandboxParameter? {
    if options.dpop.renewsNonceAfterSuccess, succeeded {
      proofNonces.renew(for: party, options.dpop)
    }
    guard options.dpop.isOn, options.dpop.offersNonceInEveryAnswer,
      options.dpop.noncesRequiredBy.contains(party)
    else { return nil }
    return nonceField(of: party)
  }
}

extension Answer {
  /// Adds the field with a nonce, unless the answer already has one.
  mutating func offer(_ nonce: SandboxParameter) {
    guard !headers.contains(where: { $0.name == nonce.name }) else { return }
    headers.append((nonce.name, nonce.value))
  }
}

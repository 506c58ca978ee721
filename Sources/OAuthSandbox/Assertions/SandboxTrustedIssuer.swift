/// A platform of workloads or an identity provider whose assertions the sandbox accepts.
///
/// - SeeAlso: RFC 7523, section 3
public struct SandboxTrustedIssuer: Sendable, Hashable {
  /// The name of the party, `iss`.
  public var issuer: String
  /// The party's public keys, each a JSON Web Key with its `alg`.
  public var keys: [SandboxJSON]
  /// The client identifiers of a platform's workloads, by the workload's name, `sub`.
  public var workloads: [String: String]

  /// Creates a trusted party; `workloads` is only for a platform.
  public init(issuer: String, keys: [SandboxJSON], workloads: [String: String] = [:]) {
    self.issuer = issuer
    self.keys = keys
    self.workloads = workloads
  }
}

extension SandboxState {
  /// Returns the trusted party with this name, or `nil` if it is not trusted.
  func trustedIssuer(_ name: String) -> SandboxTrustedIssuer? {
    options.trustedIssuers.first { $0.issuer == name }
  }

  /// Returns the client of a platform's workload; throws if there is none, or if its identifier is
  /// not `expected`.
  func client(
    ofWorkload name: String, _ issuer: SandboxTrustedIssuer, for expected: String?
  ) throws(AssertionFault) -> SandboxClient {
    guard let client = issuer.workloads[name].flatMap(self.client) else {
      throw AssertionFault("There is no client for this workload.")
    }
    guard expected ?? client.id == client.id else {
      throw AssertionFault("The workload belongs to another client.")
    }
    return client
  }
}

extension SandboxServer {
  /// Returns this sandbox as an identity provider that another sandbox trusts.
  ///
  /// Its grants for the other sandbox (ID-JAG) are signed with `RS256`.
  public var trustedIssuer: SandboxTrustedIssuer {
    core.withState { state in
      SandboxTrustedIssuer(
        issuer: state.issuer, keys: [state.keys.key(for: .rs256).json(namesKey: true)])
    }
  }
}

/// A fault of a server that binds tokens to keys, for tests of clients that must handle it.
///
/// Pass it to ``SandboxMisbehaviour/dpop(_:)``. A fault's raw value is a phrase for the name of a
/// test.
///
/// - SeeAlso: RFC 9449
public enum SandboxDPoPFault: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  // MARK: Nonces

  /// The answer is `use_dpop_nonce` with a new nonce, whatever the proof's nonce is.
  ///
  /// If the misbehaviour applies to all requests (`times: nil`), the loop never ends.
  case nonceLoop = "use_dpop_nonce is the answer to every nonce"
  /// The right answer has a nonce, although no error has asked for one.
  case nonceInSuccess = "a nonce comes with the right answer"
  /// The answer is `use_dpop_nonce` without a nonce.
  case nonceMissing = "use_dpop_nonce comes without a nonce"
  /// The answer is `use_dpop_nonce` with two fields `DPoP-Nonce`. The first is right.
  case nonceDoubled = "use_dpop_nonce comes with two nonces"
  /// The answer is `use_dpop_nonce` with an empty nonce.
  case nonceEmpty = "use_dpop_nonce comes with an empty nonce"
  /// The answer is `use_dpop_nonce` with a nonce that contains forbidden characters.
  case nonceMalformed = "use_dpop_nonce comes with a nonce that has forbidden characters"
  /// The answer is `use_dpop_nonce` with a nonce of 16 KiB.
  case nonceTooLong = "use_dpop_nonce comes with a nonce of 16 KiB"

  // MARK: Proofs and tokens

  /// The answer is `invalid_dpop_proof`, although the proof is right.
  case proofRefused = "the right proof is refused"
  /// The token is bound to a key that is not the proof's.
  case otherKey = "the token is bound to another key"
  /// The token is a Bearer token, although the request has a proof.
  case bearerToken = "the token is a Bearer token"

  /// The fault as a phrase, such as `the token is bound to another key`.
  public var description: String { rawValue }
}

extension SandboxMisbehaviour {
  /// An answer with a fault in the handling of proofs, for the endpoints that check proofs.
  ///
  /// These are the token endpoint, the endpoint for pushed requests, UserInfo, the API and the
  /// drive. ``SandboxDPoPFault/otherKey`` and ``SandboxDPoPFault/bearerToken`` have an effect at
  /// the token endpoint only. The argument `times` of ``SandboxServer/misbehave(at:_:times:)``
  /// counts requests.
  public static func dpop(_ fault: SandboxDPoPFault) -> Self { Self(kind: .dpop(fault)) }
}

import SQBasics
import SQFoundation

/// The reason why an assertion is rejected.
struct AssertionFault: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}

/// A signed assertion of a client or a trusted issuer, before and during its verification.
///
/// - SeeAlso: RFC 7523, section 3
struct ReceivedAssertion: Redacted {
  private let jwt: ReceivedJWT

  /// The maximum remaining lifetime of an assertion, in seconds.
  private static let longestLifetime = 3900
  /// The allowed difference between clocks, in seconds.
  private static let tolerance = 30

  init(_ text: String) throws(AssertionFault) {
    guard let jwt = ReceivedJWT(text) else { throw AssertionFault("It is not a signed JWT.") }
    self.jwt = jwt
  }

  /// Returns a required claim that is a non-empty string.
  func text(_ name: String) throws(AssertionFault) -> String {
    guard let text = jwt.text(name) else { throw AssertionFault("It has no \(name).") }
    return text
  }

  /// Whether the assertion claims to be an identity provider's grant.
  var isIdentityGrant: Bool { jwt.header["typ"] == .string(IdentityGrant.headerType) }

  /// Whether the assertion claims to be signed with a shared secret.
  var usesSecret: Bool { jwt.algorithm?.usesSecret ?? false }

  /// Verifies the signature with a public key and the claims `aud`, `exp`, `iat` and `jti`, and
  /// records the assertion as used.
  ///
  /// If `isOfOther` is `true`, a party other than the client signed the assertion, and `aud` may be
  /// an array, which Kubernetes writes even for one audience.
  func check(
    keys: [SandboxJSON], isOfOther: Bool = false, _ sandbox: inout SandboxState
  ) throws(AssertionFault) {
    guard keys.contains(where: jwt.isSigned(byRegistered:)) else {
      throw AssertionFault("None of the signer's keys matches its signature.")
    }
    try checkClaims(isOfOther: isOfOther, &sandbox)
  }

  /// Verifies the signature with the client's secret and the claims `aud`, `exp`, `iat` and `jti`,
  /// and records the assertion as used.
  func check(secret: String, _ sandbox: inout SandboxState) throws(AssertionFault) {
    guard jwt.isSigned(bySecret: secret) else {
      throw AssertionFault("The client's secret does not match its signature.")
    }
    try checkClaims(isOfOther: false, &sandbox)
  }

  private func checkClaims(
    isOfOther: Bool, _ sandbox: inout SandboxState
  ) throws(AssertionFault) {
    guard let algorithm = jwt.algorithm, sandbox.options.assertionAlgorithms.contains(algorithm)
    else { throw AssertionFault("Its algorithm is not supported.") }
    var names: [SandboxJSON] = [.string(sandbox.issuer)]
    if !sandbox.options.requiresIssuerAsAudience {
      names.append(.string(sandbox.address + SandboxEndpoint.token.path))
    }
    let own = names.count == 1 ? "issuer" : "issuer or its token endpoint"
    if isOfOther { names += names.map { .array([$0]) } }
    guard let audience = jwt.claims["aud"], names.contains(audience) else {
      throw AssertionFault(
        "aud must be this server's \(own) alone\(isOfOther ? "" : ", as a string").")
    }
    guard case .integer(let end)? = jwt.claims["exp"], end > sandbox.seconds - Self.tolerance else {
      throw AssertionFault("It has expired, or exp is missing or not an integer.")
    }
    guard end < sandbox.seconds + Self.longestLifetime else {
      throw AssertionFault("exp is too far in the future.")
    }
    if case .integer(let start)? = jwt.claims["iat"], start > sandbox.seconds + Self.tolerance {
      throw AssertionFault("iat is in the future.")
    }
    let id = "\(try text("iss")) \(try text("jti"))"
    let last = end + Self.tolerance
    guard sandbox.usedAssertions.note(id, until: last, now: sandbox.seconds) else {
      throw AssertionFault("It was used before.")
    }
  }
}

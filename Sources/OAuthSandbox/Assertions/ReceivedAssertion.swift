import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why an assertion is refused.
struct AssertionFault: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}

/// A JSON Web Token that a client has signed, as it came.
///
/// - SeeAlso: RFC 7523, section 3
struct ReceivedAssertion: Redacted {
  private let header: SandboxJSON
  private let claims: SandboxJSON
  private let signed: Data
  private let signature: Data

  /// The longest time for which an assertion may be good, in seconds.
  private static let longestLifetime = 3900
  /// By how many seconds clocks may differ.
  private static let tolerance = 30

  init(_ text: String) throws(AssertionFault) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Crypto.bytes(base64URL: String(parts[2]))
    else { throw AssertionFault("It is no signed JWT.") }
    self.header = header
    self.claims = claims
    self.signature = signature
    signed = Data(parts[0...1].joined(separator: ".").utf8)
  }

  private static func json(_ part: Substring) -> SandboxJSON? {
    Crypto.bytes(base64URL: String(part)).flatMap {
      SandboxJSON(parsing: String(decoding: $0, as: UTF8.self))
    }
  }

  /// A claim that is a text and must be there.
  func text(_ name: String) throws(AssertionFault) -> String {
    guard case .string(let text)? = claims[name], !text.isEmpty else {
      throw AssertionFault("It has no \(name).")
    }
    return text
  }

  /// Checks the signature and all claims but the parties, and notes that the assertion was used.
  func check(keys: [SandboxJSON], _ sandbox: inout SandboxState) throws(AssertionFault) {
    guard keys.contains(where: isSigned) else {
      throw AssertionFault("No key of the client has made its signature.")
    }
    let names: [SandboxJSON] = [
      .string(sandbox.issuer), .string(sandbox.issuer + SandboxEndpoint.token.path),
    ]
    guard let audience = claims["aud"], names.contains(audience) else {
      throw AssertionFault("It is not for this server alone.")
    }
    guard case .integer(let end)? = claims["exp"], end > sandbox.seconds - Self.tolerance else {
      throw AssertionFault("It has expired, or has no end.")
    }
    guard end < sandbox.seconds + Self.longestLifetime else {
      throw AssertionFault("It is good for too long.")
    }
    if case .integer(let start)? = claims["iat"], start > sandbox.seconds + Self.tolerance {
      throw AssertionFault("It is from the future.")
    }
    let id = "\(try text("iss")) \(try text("jti"))"
    guard sandbox.usedAssertions.note(id, until: end, now: sandbox.seconds) else {
      throw AssertionFault("It was used before.")
    }
  }

  /// Whether a key has made the signature, by the algorithm that is registered for it.
  private func isSigned(by key: SandboxJSON) -> Bool {
    guard case .string(let name)? = key["alg"], header["alg"] == .string(name),
      header["kid"] == nil || header["kid"] == key["kid"],
      let algorithm = SandboxSigningAlgorithm(rawValue: name), !algorithm.usesSecret,
      let key = OpenSSLKey(publicJWK: key)
    else { return false }
    return key.isValid(signature, of: signed, algorithm)
  }
}

/// The identifiers of assertions that came, for as long as they are good.
struct UsedAssertions {
  private var ends: [String: Int] = [:]

  /// Notes an identifier; returns `false` if it came before.
  mutating func note(_ id: String, until end: Int, now: Int) -> Bool {
    ends = ends.filter { $0.value >= now - 60 }
    guard ends[id] == nil else { return false }
    ends[id] = end
    return true
  }
}

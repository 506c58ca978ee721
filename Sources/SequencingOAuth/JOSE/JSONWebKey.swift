import SQBasics
import SQCrypto
import SQFoundation

/// A public key that a server publishes, with the members that limit its use.
///
/// Two keys are equal if all their members that the SDK understands are equal.
///
/// - SeeAlso: RFC 7517, section 4
package struct JSONWebKey: Sendable {
  let publicKey: PublicKey
  private let members: [String: JSONValue]

  /// The names of the members that determine a public key, by the type of the key.
  private static let identifyingNames: [String: Set<String>] = [
    "RSA": ["e", "kty", "n"], "EC": ["crv", "kty", "x", "y"], "OKP": ["crv", "kty", "x"],
  ]

  /// The member that limits the key to one issuer; RFC 7517 does not define it.
  private static let issuer = "issuer"

  // The private members of a key are not in this list, so they are dropped.
  private static let names = Set(identifyingNames.values.joined())
    .union(["use", "key_ops", "alg", "kid", issuer])

  /// Reads a JSON Web Key; returns `nil` if it is not a public key that the SDK supports.
  ///
  /// A member that is `null` counts as missing, because some servers write every possible member.
  package init?(_ value: JSONValue) {
    guard
      let members = value.object?.filter({ Self.names.contains($0.key) && $0.value != .null }),
      Self.areUnderstood(members), let publicKey = Self.publicKey(members)
    else { return nil }
    self.publicKey = publicKey
    self.members = members
  }

  /// Returns whether this key may verify a signature with this algorithm and key name.
  ///
  /// - SeeAlso: RFC 7517, sections 4.2 to 4.5
  func fits(_ algorithm: JWSAlgorithm, keyID: String?) -> Bool {
    publicKey.kind == algorithm.keyType
      && ["sig", nil].contains(members["use"].string)
      && members["key_ops"].array?.contains("verify") ?? true
      && members["alg"].string.map { JWSAlgorithm(named: $0) == algorithm } ?? true
      && (keyID == nil || members["kid"].string == keyID)
  }

  /// Returns whether this key may sign for one of these issuers.
  ///
  /// A key that names an issuer may sign only for that issuer. A key that names none may sign for
  /// all.
  func maySign(for issuers: [String]) -> Bool {
    guard let issuer = members[Self.issuer] else { return true }
    return issuer.string.map(issuers.contains) ?? false
  }

  private static func areUnderstood(_ members: [String: JSONValue]) -> Bool {
    members.allSatisfy { name, value in
      let texts = name == "key_ops" ? value.array : [value]
      // Only Microsoft gives this member a meaning, so elsewhere it may be anything.
      if name == issuer { return true }
      return texts?.allSatisfy { $0.string != nil } ?? false
    }
  }

  /// Creates the public key from the members for its type.
  ///
  /// - SeeAlso: RFC 7518, section 6; RFC 8037, section 2
  private static func publicKey(_ members: [String: JSONValue]) -> PublicKey? {
    func bytes(_ name: String) -> Data? { members[name].string.flatMap(Base64URL.decode) }
    let curve = members["crv"].string
    switch members["kty"].string {
    case "RSA":
      guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
      return PublicKey(rsaModulus: modulus, exponent: exponent)
    case "EC":
      guard let curve = curve.flatMap(EllipticCurve.init), let x = bytes("x"), let y = bytes("y")
      else { return nil }
      return PublicKey(curve: curve, x: x, y: y)
    case "OKP":
      guard curve == "Ed25519", let x = bytes("x") else { return nil }
      return PublicKey(ed25519: x)
    default: return nil
    }
  }
}

extension JSONWebKey {
  /// Returns only the members that determine the public key; the key's type decides which these
  /// are.
  ///
  /// - SeeAlso: RFC 7638, section 3.2; RFC 8037, section 2
  static func identifyingMembers(of members: [String: JSONValue]) -> [String: String] {
    let names = members["kty"].string.flatMap { identifyingNames[$0] } ?? []
    return members.filter { names.contains($0.key) }.compactMapValues(\.string)
  }
}

extension JSONWebKey: Hashable {
  package static func == (one: JSONWebKey, other: JSONWebKey) -> Bool {
    one.members == other.members
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

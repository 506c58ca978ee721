import SQBasics

/// The algorithm of a signature.
///
/// An app and its server agree on the algorithm when the app is registered. A signature with any
/// other algorithm is rejected. The algorithm `none` is not supported.
///
/// - SeeAlso: RFC 7518, section 3.1; RFC 8037, section 3.1
public enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256: the default of OpenID Connect.
  case rs256 = "RS256"
  /// RSASSA-PKCS1-v1_5 with SHA-384.
  case rs384 = "RS384"
  /// RSASSA-PKCS1-v1_5 with SHA-512.
  case rs512 = "RS512"
  /// RSASSA-PSS with SHA-256.
  case ps256 = "PS256"
  /// RSASSA-PSS with SHA-384.
  case ps384 = "PS384"
  /// RSASSA-PSS with SHA-512.
  case ps512 = "PS512"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
  /// ECDSA on P-384 with SHA-384.
  case es384 = "ES384"
  /// ECDSA on P-521 with SHA-512.
  case es512 = "ES512"
  /// Ed25519. Ed448 is not supported.
  case edDSA = "EdDSA"
  /// HMAC with SHA-256, keyed with the client secret.
  case hs256 = "HS256"
  /// HMAC with SHA-384, keyed with the client secret.
  case hs384 = "HS384"
  /// HMAC with SHA-512, keyed with the client secret.
  case hs512 = "HS512"

  /// Creates an algorithm from its name in a message; returns `nil` if the SDK does not support it.
  ///
  /// `Ed25519` is the newer name for the signatures of ``edDSA``; the older name `EdDSA` also
  /// includes Ed448.
  ///
  /// - SeeAlso: RFC 9864, section 2.2
  package init?(named name: String) {
    // `init(rawValue:)` would compare Unicode forms, which takes long for a hostile name.
    let found = name == Self.newerName ? .edDSA : Self.allCases.first { $0.rawValue == name }
    guard let found else { return nil }
    self = found
  }

  private static let newerName = "Ed25519"

  /// Returns the algorithm's name to send to a server; `listed` are the names in its metadata.
  ///
  /// The result is `Ed25519` only if the server lists that name and not `EdDSA`, because most
  /// servers know only the older name.
  ///
  /// - SeeAlso: RFC 9864, section 2.2
  package func name(in listed: [String]?) -> String {
    guard self == .edDSA, let listed, listed.contains(Self.newerName),
      !listed.contains(rawValue)
    else { return rawValue }
    return Self.newerName
  }

  /// Returns the supported algorithms in a list of names.
  package static func all(in names: [String]?) -> Set<JWSAlgorithm> {
    Set((names ?? []).compactMap(JWSAlgorithm.init(named:)))
  }
}

public import SQBasics

/// A statement that a client signs with its key to get a token while no user is present.
///
/// A service uses it to act in its own name, or for a user if the server allows that. The SDK signs
/// a new assertion for each request, each with a new identifier.
///
/// - SeeAlso: RFC 7523, section 3
public struct JWTAssertion: Sendable, Hashable {
  /// The value of `grant_type`; a client that registers itself lists it in its ``ClientMetadata``.
  public static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// The signer's identifier (`iss`); `nil` for the client's identifier.
  public var issuer: String?
  /// The identifier of the party that the token is for (`sub`); `nil` for the issuer.
  public var subject: String?
  /// The server that may accept the assertion (`aud`); `nil` for ``Provider/assertionAudience``.
  public var audience: String?
  /// The time for which the assertion is valid (`exp`); one minute by default.
  ///
  /// The SDK adds ``ClientConfiguration/clockTolerance`` to it. A value outside the range from zero
  /// to one hour is replaced by the nearest end of that range.
  public var lifetime: Duration {
    didSet { lifetime = Self.bounded(lifetime) }
  }
  /// Additional claims, which override the claims of the other properties; a `null` value removes
  /// the claim.
  public var additionalClaims: [String: JSONValue]

  /// Creates an assertion; without arguments the client acts in its own name.
  public init(
    issuer: String? = nil, subject: String? = nil, audience: String? = nil,
    lifetime: Duration = .seconds(60), additionalClaims: [String: JSONValue] = [:]
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.lifetime = Self.bounded(lifetime)
    self.additionalClaims = additionalClaims
  }

  private static func bounded(_ lifetime: Duration) -> Duration {
    min(max(lifetime, .zero), .seconds(3600))
  }
}

extension JWTAssertion: Codable {
  private enum CodingKeys: String, CodingKey {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case lifetime
    case additionalClaims = "claims"
  }

  /// Reads an assertion from a decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let lifetime = try container.decodeIfPresent(Double.self, forKey: .lifetime) ?? 60
    guard !lifetime.isNaN else {
      throw DecodingError.dataCorruptedError(
        forKey: .lifetime, in: container, debugDescription: "the lifetime is not a number")
    }
    self.init(
      issuer: try container.decodeIfPresent(String.self, forKey: .issuer),
      subject: try container.decodeIfPresent(String.self, forKey: .subject),
      audience: try container.decodeIfPresent(String.self, forKey: .audience),
      lifetime: .bounded(seconds: lifetime),
      additionalClaims: try container.decodeIfPresent(
        [String: JSONValue].self, forKey: .additionalClaims) ?? [:])
  }

  /// Writes the assertion to an encoder, with the lifetime in seconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(issuer, forKey: .issuer)
    try container.encodeIfPresent(subject, forKey: .subject)
    try container.encodeIfPresent(audience, forKey: .audience)
    try container.encode(lifetime.seconds, forKey: .lifetime)
    if !additionalClaims.isEmpty {
      try container.encode(additionalClaims, forKey: .additionalClaims)
    }
  }
}

extension JWTAssertion: Redacted {
  /// The issuer and the subject.
  public var description: String {
    let parties = [issuer, subject].compactMap { $0?.printable }
    return "assertion" + (parties.isEmpty ? "" : " of " + parties.joined(separator: " for "))
  }
}

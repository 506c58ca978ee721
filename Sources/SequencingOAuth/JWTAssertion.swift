public import SQBasics

/// What a client says, and signs with its key, to get a token without a user's presence.
///
/// A service says so that it acts in its own name, or for a user that the server lets it act for.
/// The SDK signs it anew for each request, with an identifier of its own.
///
/// - SeeAlso: RFC 7523, section 3
public struct JWTAssertion: Sendable, Hashable {
  /// The `grant_type`, which a client that registers itself names in its ``ClientMetadata``.
  public static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  /// The party that signs (`iss`); `nil` for the client's identifier.
  public var issuer: String?
  /// The party for which the token is (`sub`); `nil` for the issuer.
  public var subject: String?
  /// The server that may accept it (`aud`); `nil` for ``Provider/assertionAudience``.
  public var audience: String?
  /// For how long it is good (`exp`), beside ``ClientConfiguration/clockTolerance``: a minute
  /// unless set.
  ///
  /// It counts from zero to an hour.
  public var lifetime: Duration {
    didSet { lifetime = Self.bounded(lifetime) }
  }
  /// Further claims, which also replace those above; a claim that is `null` is left out.
  public var additionalClaims: [String: JSONValue]

  /// Makes an assertion; without arguments the client speaks for itself.
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
    self.init(
      issuer: try container.decodeIfPresent(String.self, forKey: .issuer),
      subject: try container.decodeIfPresent(String.self, forKey: .subject),
      audience: try container.decodeIfPresent(String.self, forKey: .audience),
      // A `Duration` cannot hold every number.
      lifetime: .seconds(
        min(max(try container.decodeIfPresent(Double.self, forKey: .lifetime) ?? 60, 0), 3600)),
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

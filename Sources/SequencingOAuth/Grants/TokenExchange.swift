public import SQBasics

/// What a client wants to exchange a token for.
///
/// With a subject alone it is an impersonation: the new token is the subject's. With an actor it is
/// a delegation: the new token says that the actor acts for the subject.
///
/// - SeeAlso: RFC 8693, sections 1.1 and 2.1
public struct TokenExchange: Sendable, Hashable {
  /// A token of any type, as a text.
  public struct Token: Sendable, Hashable {
    /// The token itself.
    public let text: String
    /// The type of the token.
    public let type: TokenType

    /// Makes a token of a type.
    public init(_ text: String, type: TokenType) {
      self.text = text
      self.type = type
    }

    /// An access token.
    public static func accessToken(_ text: String) -> Self { Self(text, type: .accessToken) }

    /// An ID token.
    public static func idToken(_ text: String) -> Self { Self(text, type: .idToken) }
  }

  /// The `grant_type`, which a client that registers itself names in its ``ClientMetadata``.
  public static let grantType = "urn:ietf:params:oauth:grant-type:token-exchange"

  /// The token of the party on whose behalf the request is made; `nil` for the account's own access
  /// token, which is refreshed before if need be.
  public var subject: Token?
  /// The token of the party that acts; `nil` for an impersonation.
  public var actor: Token?
  /// The names of the services for which the new token is.
  public var audiences: [String]
  /// The addresses of the services for which the new token is: absolute URIs without a fragment.
  public var resources: [String]
  /// The scope of the new token; `nil` lets the server decide.
  public var scope: String?
  /// The type that the new token must have.
  public var requestedType: TokenType

  /// Makes a request for another token.
  public init(
    subject: Token? = nil, actor: Token? = nil, audiences: [String] = [],
    resources: [String] = [], scope: String? = nil, requestedType: TokenType = .accessToken
  ) {
    self.subject = subject
    self.actor = actor
    self.audiences = audiences
    self.resources = resources
    self.scope = scope
    self.requestedType = requestedType
  }
}

extension TokenExchange: Redacted {
  /// The type alone, without a token.
  public var description: String { "token exchange for \(requestedType.rawValue.printable)" }
}

extension TokenExchange.Token: Redacted {
  /// The type alone.
  public var description: String { type.rawValue.printable }
}

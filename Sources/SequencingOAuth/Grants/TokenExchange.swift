public import SQBasics

/// A request to exchange a token for another one.
///
/// With only a subject it is an impersonation: the new token is a token of the subject. With an
/// actor it is a delegation: the new token says that the actor acts for the subject.
///
/// - SeeAlso: RFC 8693, sections 1.1 and 2.1
public struct TokenExchange: Sendable, Hashable {
  /// A token as a text, with its type.
  public struct Token: Sendable, Hashable {
    /// The token as the server issued it.
    public let text: String
    /// The type of the token.
    public let type: TokenType

    /// Creates a value with the text and the type of an existing token.
    public init(_ text: String, type: TokenType) {
      self.text = text
      self.type = type
    }

    /// Returns a value with the text of an access token.
    public static func accessToken(_ text: String) -> Self { Self(text, type: .accessToken) }

    /// Returns a value with the text of an ID token.
    public static func idToken(_ text: String) -> Self { Self(text, type: .idToken) }
  }

  /// The value of `grant_type`; a client that registers itself lists it in its ``ClientMetadata``.
  public static let grantType = "urn:ietf:params:oauth:grant-type:token-exchange"

  /// The token of the party that the request is made for; `nil` for the account's own access token.
  ///
  /// The SDK refreshes the account's token first if needed.
  public var subject: Token?
  /// The token of the acting party; `nil` for an impersonation.
  public var actor: Token?
  /// The names of the services that the new token is for.
  public var audiences: [String]
  /// The addresses of the services that the new token is for: absolute URIs without a fragment.
  public var resources: [String]
  /// The scope of the new token; `nil` lets the server decide.
  public var scope: String?
  /// The type that the new token must have.
  public var requestedType: TokenType

  /// Creates a request for another token.
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
  /// The requested type only, without a token.
  public var description: String { "token exchange for \(requestedType.rawValue.printable)" }
}

extension TokenExchange.Token: Redacted {
  /// The type only, without the token.
  public var description: String { type.rawValue.printable }
}

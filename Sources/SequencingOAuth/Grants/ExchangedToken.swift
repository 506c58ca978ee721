public import SQBasics
public import SQFoundation

/// A token that the SDK does not store: the result of a token exchange, or a token with fewer
/// rights than the account's.
///
/// - SeeAlso: RFC 8693, section 2.2.1; ``AccountOperations/narrowedToken(for:scope:)``
public struct ExchangedToken: Sendable, Hashable {
  /// The type of the token: the requested type.
  public let type: TokenType
  /// The token with the other values of the response.
  ///
  /// Its ``SQToken/accessToken`` is the issued token, even if the type is not an access token.
  public let token: SQToken
  /// Who was signed in when the token was made of the account's; `nil` if the app passed the subject.
  var owner: RequestOwner?

  /// The token as a text.
  public var text: String { token.accessToken }
  /// The moment when the token stops being valid; `nil` if the server does not say.
  public var expirationDate: Date? { token.expirationDate }

  /// The header fields for a request with this token; `nil` if it is not an access token, or needs
  /// a proof in each request.
  ///
  /// Send them only to the services for which the token was requested. For a token that is bound to
  /// a key (``SQToken/isBound``), use ``AccountOperations/send(_:with:)``.
  public var authorizationFields: [String: String]? {
    type == .accessToken && !token.isBound ? ["Authorization": "Bearer \(text)"] : nil
  }
}

extension ExchangedToken: Redacted {
  /// The type only, without the token.
  public var description: String { "ExchangedToken(\(type.rawValue.printable))" }
}

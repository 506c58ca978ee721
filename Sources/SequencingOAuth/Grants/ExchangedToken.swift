public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The token that came out of an exchange; the SDK does not keep it.
///
/// - SeeAlso: RFC 8693, section 2.2.1
public struct ExchangedToken: Sendable, Hashable {
  /// The type of the token, which is the requested one.
  public let type: TokenType
  /// The token as its server described it; its ``SQToken/accessToken`` is the token, whatever the
  /// type.
  public let token: SQToken

  /// The token as a text.
  public var text: String { token.accessToken }
  /// The moment at which the token stops being valid; `nil` if the server does not say.
  public var expirationDate: Date? { token.expirationDate }

  /// The header fields of a request that carries the token; `nil` if it is no access token.
  ///
  /// Send them only to the services for which the token was asked.
  public var authorizationFields: [String: String]? {
    type == .accessToken ? ["Authorization": "Bearer \(text)"] : nil
  }
}

extension ExchangedToken: Redacted {
  /// The type alone.
  public var description: String { "ExchangedToken(\(type.rawValue.printable))" }
}

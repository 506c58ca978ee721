public import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Who signed in, when and how: the validated claims of an ID token.
///
/// Only the SDK makes this value, and only from an ID token that passed every rule of OpenID
/// Connect. So an app that has one need not check it again. It says that a user signed in; it is
/// no permission, and an API must not accept it as one.
///
/// A user is identified by ``issuer`` and ``subject`` together. All other claims may change.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 2 and 3.1.3.7
public struct IDToken: UserClaims, Hashable {
  private let values: Boxed<IDTokenClaims>
  /// The text as the server sent it, for a server that asks for an ID token, such as the hint of a
  /// logout.
  ///
  /// Treat it as a secret: a server that is careless may accept it as a proof of identity.
  public let compactForm: String

  /// Makes the value of an ID token whose claims have been validated.
  init(validated claims: IDTokenClaims, compactForm: String) {
    values = Boxed(claims)
    self.compactForm = compactForm
  }

  /// The identifier of the provider that issued the token (`iss`).
  public var issuer: String { values.value.issuer }
  /// The user's identifier at the ``issuer`` (`sub`), which never changes.
  public var subject: String { values.value.subject }
  /// The clients for which the token was issued (`aud`); the app's client is one of them.
  public var audience: [String] { values.value.audience }
  /// The client to which the token was issued (`azp`); if there is one, it is the app's client.
  public var authorizedParty: String? { values.value.authorizedParty }
  /// The moment at which the token stops being valid (`exp`).
  ///
  /// It does not end the sign-in: the token was validated before that moment.
  public var expirationDate: Date { values.value.expirationDate }
  /// The moment when the provider issued the token (`iat`).
  public var issueDate: Date { values.value.issueDate }
  /// The moment when the user last logged in at the provider (`auth_time`), if it said so.
  public var authenticationDate: Date? { values.value.authenticationDate }
  /// How strictly the user was authenticated (`acr`): a name that the provider defines.
  public var authenticationContextClass: String? { values.value.authenticationContextClass }
  /// The methods by which the user was authenticated (`amr`), such as `pwd` and `otp`.
  ///
  /// - SeeAlso: RFC 8176
  public var authenticationMethods: [String] { values.value.authenticationMethods }
  /// The identifier of the user's session at the provider (`sid`), which a logout may name.
  public var sessionID: String? { values.value.sessionID }
  /// All claims of the token by their names.
  public var claims: [String: JSONValue] { values.value.all }

  /// Whether two values come from the same text.
  public static func == (one: Self, other: Self) -> Bool { one.compactForm == other.compactForm }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(compactForm) }
}

extension IDToken: Redacted {
  /// The issuer alone: who the user is belongs into no log.
  public var description: String { "IDToken(issued by \(issuer.printable))" }
}

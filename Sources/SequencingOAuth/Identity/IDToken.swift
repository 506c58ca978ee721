public import SQBasics
public import SQFoundation

/// The validated claims of an ID token: who signed in, when and how.
///
/// Only the SDK creates this value, and only from an ID token that passed every rule of OpenID
/// Connect, so an app need not check it again. It says that a user signed in. It is not a
/// permission, and an API must not accept it as one. For an app's tests, the library
/// `SequencingOAuthTesting` makes fakes.
///
/// A user is identified by ``issuer`` and ``subject`` together. All other claims may change.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 2 and 3.1.3.7
public struct IDToken: UserClaims, Hashable {
  private let values: Boxed<IDTokenClaims>
  /// The ID token's text, as the server sent it.
  ///
  /// Some requests need it, such as a logout with a hint. Treat it as a secret, because a careless
  /// server may accept it as proof of identity.
  public let compactForm: String

  /// Creates an ID token from validated claims.
  init(validated claims: IDTokenClaims, compactForm: String) {
    values = Boxed(claims)
    self.compactForm = compactForm
  }

  /// Creates an ID token for an app's tests from claims that are not validated.
  ///
  /// - Throws: The same error as for a provider's ID token if a required claim is missing or a
  ///   claim has a wrong type.
  package init(unverified claims: [String: JSONValue], compactForm: String) throws(SQOAuthError) {
    self.init(validated: try IDTokenClaims(claims), compactForm: compactForm)
  }

  /// The identifier of the provider that issued the token (`iss`).
  public var issuer: String { values.value.issuer }
  /// The user's identifier at the ``issuer`` (`sub`); it never changes.
  public var subject: String { values.value.subject }
  /// The audiences of the token (`aud`); the app's client is one of them.
  public var audience: [String] { values.value.audience }
  /// The client that the token was issued to (`azp`): the app's client, or `nil` if the claim is
  /// missing.
  public var authorizedParty: String? { values.value.authorizedParty }
  /// The moment when the token stops being valid (`exp`).
  ///
  /// The user stays signed in after this moment, because the token was validated earlier.
  public var expirationDate: Date { values.value.expirationDate }
  /// The moment when the provider issued the token (`iat`).
  public var issueDate: Date { values.value.issueDate }
  /// The moment when the user last logged in at the provider (`auth_time`); `nil` if the token does
  /// not say.
  public var authenticationDate: Date? { values.value.authenticationDate }
  /// The strength of the user's authentication (`acr`), as a name that the provider defines.
  public var authenticationContextClass: String? { values.value.authenticationContextClass }
  /// The methods of the user's authentication (`amr`), such as `pwd` and `otp`.
  ///
  /// - SeeAlso: RFC 8176
  public var authenticationMethods: [String] { values.value.authenticationMethods }
  /// The identifier of the user's session at the provider (`sid`); a logout token may name it.
  ///
  /// Many providers leave it out of the ID tokens of refreshes.
  public var sessionID: String? { values.value.sessionID }
  /// All claims of the token by their names.
  public var claims: [String: JSONValue] { values.value.all }

  /// Returns whether both values come from the same text.
  public static func == (one: Self, other: Self) -> Bool { one.compactForm == other.compactForm }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(compactForm) }
}

extension IDToken: Redacted {
  /// The issuer only, because a log must not name the user.
  public var description: String { "IDToken(issued by \(issuer.printable))" }
}

public import SQBasics
public import SQFoundation

/// An access token and the values that came with it.
///
/// It is a value: a refresh creates a new one. Encoding it writes every field, so protect the
/// encoded token like a password. Printing, reflecting or dumping it shows no secret.
///
/// - SeeAlso: RFC 6749, section 5.1
public struct SQToken: Sendable, Hashable {
  /// The text that a resource server accepts as the user's permission; clients do not interpret it.
  public var accessToken: String { storage.accessToken }

  /// The moment when the access token stops being valid, or `nil` if the server sent no
  /// `expires_in`.
  ///
  /// `nil` means unknown, not forever: such a token is used until a server refuses it.
  public var expirationDate: Date? { storage.expirationDate }

  /// The kind of the token, as the server spelled it; compare it without case.
  public var tokenType: String { storage.tokenType }

  /// Whether the token is bound to a key of the account, so that it is useless without that key.
  ///
  /// It is `true` for a token that the SDK got with a ``TokenBinding`` to a key, and `false` for a
  /// token that is bound to a certificate. The key, or the thumbprint of the app's own key, is
  /// stored with the account, not in the encoded token. If an app stores the token itself and reads
  /// it again, the property is `false`, and the token cannot be used.
  ///
  /// - SeeAlso: RFC 9449
  public var isBound: Bool { storage.proofKey != nil }

  /// The scopes of the token, with spaces between them.
  ///
  /// If the server sent no `scope`, these are the scopes that the request asked for. `nil` means
  /// that the request did not ask for any scope either, or that the server's `scope` is neither a
  /// text nor a list of texts; in the latter case, ``additionalFields`` has it.
  ///
  /// - SeeAlso: RFC 6749, section 3.3
  public var scope: String? { storage.scope }

  /// The credential for getting the next access token; `nil` if the server sent none.
  public var refreshToken: String? { storage.refreshToken }

  /// The moment when the refresh token expires unless it is used earlier; `nil` if it is unknown.
  ///
  /// Only some servers send its lifetime, as `refresh_token_timeout`, `refresh_token_expires_in`,
  /// `refresh_expires_in` or `x_refresh_token_expires_in`. The lifetime counts from the response
  /// that contains it. A refresh that names another lifetime replaces this date, and a new refresh
  /// token without a lifetime removes it. The SDK sends the event ``SessionEvent/endsSoon(_:)``
  /// before this date.
  ///
  /// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
  public var refreshTokenExpirationDate: Date? { storage.ends.refreshToken?.date }

  /// The moment when the user's authorization ends, however often the token is refreshed; `nil` if
  /// it is unknown.
  ///
  /// Only some servers send its lifetime, as `authorization_expires_in`. After this moment the user
  /// must sign in again. Refreshes keep this date until the server sends another lifetime. The SDK
  /// sends the event ``SessionEvent/endsSoon(_:)`` before this date.
  ///
  /// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
  public var authorizationExpirationDate: Date? { storage.ends.authorization?.date }

  /// The moment when the token arrived.
  ///
  /// The time from this date to ``expirationDate`` is the token's whole lifetime.
  public var issueDate: Date? { storage.issueDate }

  /// The other fields of the token response, as the server sent them.
  ///
  /// If the response to a refresh lacks a field, such as `id_token`, the earlier value stays. But a
  /// field whose name contains `expir` or `timeout` is dropped then, because such a lifetime counts
  /// from the response that sent it; ``refreshTokenExpirationDate`` and
  /// ``authorizationExpirationDate`` have the dates.
  public var additionalFields: [String: JSONValue] { storage.additionalFields }

  /// The validated ID token with the user's identity; `nil` if the user's identity is unknown.
  ///
  /// It is `nil` without the scope `openid`, at a provider without an issuer or keys, and after a
  /// grant without an ID token in its response. ``AccountOperations/idToken()`` throws the reason.
  /// A refresh without an ID token keeps the earlier one. The ID token is not part of the encoded
  /// token: a token that an app decodes has only the text `id_token` in ``additionalFields``, which
  /// is not validated. The token of an ``AccountRecord`` that a store has read has its ID token.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 2
  public var idToken: IDToken? { storage.idToken }

  /// The `nonce` of the sign-in's authorization request.
  ///
  /// It is `nil` for a token of another grant, of a sign-in without the scope `openid`, or of an
  /// older version of the SDK. The SDK compares it with the `nonce` of each ID token. A refresh
  /// keeps it.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, sections 3.1.3.7 and 12.2
  public var nonce: String? { storage.nonce }

  /// The additional parameters of the redirect that ended the sign-in, such as QuickBooks'
  /// `realmId`.
  ///
  /// They come from the user's browser. Unless the server signs its responses
  /// (``ClientConfiguration/authorizationResponseAlgorithm``), nothing proves that the server sent
  /// them. They do not include the protocol's own parameters, repeated parameters, or parameters
  /// that cannot be decoded. If there are more than 32 of them, or more than 16 KiB, the property
  /// is empty. Tokens of grants without a redirect have none. A refresh keeps them.
  public var redirectParameters: [String: String] { storage.redirectParameters }

  let storage: Storage

  /// Creates a token from values that an app saved.
  ///
  /// Give `issueDate` if the app knows it. A token without it counts as newer than the account's
  /// token, even if it is an outdated copy whose refresh token must not be used again.
  ///
  /// Without a date for the refresh token's or the authorization's end, the end comes from
  /// `additionalFields`, counted from `issueDate`.
  public init(
    accessToken: String, expirationDate: Date? = nil, tokenType: String = "Bearer",
    scope: String? = nil, refreshToken: String? = nil, issueDate: Date? = nil,
    additionalFields: [String: JSONValue] = [:], nonce: String? = nil,
    redirectParameters: [String: String] = [:], refreshTokenExpirationDate: Date? = nil,
    authorizationExpirationDate: Date? = nil
  ) {
    storage = Storage(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType, scope: scope,
      refreshToken: refreshToken, issueDate: issueDate, additionalFields: additionalFields,
      nonce: nonce, idToken: nil, redirectParameters: redirectParameters, proofKey: nil,
      ends: GrantEnds(
        refreshToken: refreshTokenExpirationDate, authorization: authorizationExpirationDate,
        issueDate: issueDate, fields: additionalFields))
  }

  private init(_ storage: Storage) {
    self.storage = storage
  }

  /// The values of a token in one object.
  ///
  /// Tokens are copied far more often than created, and a copy then counts one reference instead of
  /// one for each value.
  final class Storage: Sendable, Redacted {
    let accessToken: String
    let expirationDate: Date?
    let tokenType: String
    let scope: String?
    let refreshToken: String?
    let issueDate: Date?
    let additionalFields: [String: JSONValue]
    let nonce: String?
    let idToken: IDToken?
    let redirectParameters: [String: String]
    let proofKey: ProofKey?
    let ends: GrantEnds

    init(
      accessToken: String, expirationDate: Date?, tokenType: String, scope: String?,
      refreshToken: String?, issueDate: Date?, additionalFields: [String: JSONValue],
      nonce: String?, idToken: IDToken?, redirectParameters: [String: String],
      proofKey: ProofKey?, ends: GrantEnds
    ) {
      self.accessToken = accessToken
      self.expirationDate = expirationDate
      self.tokenType = tokenType
      self.scope = scope
      self.refreshToken = refreshToken
      self.issueDate = issueDate
      self.additionalFields = additionalFields
      self.nonce = nonce
      self.idToken = idToken
      self.redirectParameters = redirectParameters
      self.proofKey = proofKey
      self.ends = ends
    }

    /// Returns a copy of these values with a different nonce, ID token, key and ends of the grant.
    func with(
      nonce: String?, idToken: IDToken?, proofKey: ProofKey?, ends: GrantEnds
    ) -> Storage {
      Storage(
        accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType,
        scope: scope, refreshToken: refreshToken, issueDate: issueDate,
        additionalFields: additionalFields, nonce: nonce, idToken: idToken,
        redirectParameters: redirectParameters, proofKey: proofKey, ends: ends)
    }
  }

  /// The scopes as a list, in the server's order.
  public var scopes: [String] { (scope ?? "").words }

  /// Returns the scopes in `requested` that this token does not have.
  public func scopesMissing(from requested: String) -> [String] {
    scopesMissing(from: requested.words)
  }

  /// Returns the scopes of a list that this token does not have.
  package func scopesMissing(from requested: [String]) -> [String] {
    let granted = scopes
    return requested.filter { !granted.contains($0) }
  }

  /// Returns whether the token's expiration date has passed; `false` if it has none.
  public func isExpired(at date: Date) -> Bool {
    expirationDate.map { $0 <= date } ?? false
  }

  /// Whether both the access token and the refresh token are missing or empty.
  var isEmpty: Bool { accessToken.isEmpty && (refreshToken ?? "").isEmpty }

  /// The key to which the token is bound; `nil` for a Bearer token.
  ///
  /// Like ``idToken``, it is not a part of the encoded token, and does not affect equality.
  package var proofKey: ProofKey? { storage.proofKey }

  /// Whether the server says, by the type `DPoP`, that the token is bound to a key.
  ///
  /// - SeeAlso: RFC 9449, section 5
  var isOfTypeDPoP: Bool { tokenType.asciiLowercased() == "dpop" }

  /// Throws if the token is bound to a key that is not known.
  ///
  /// Such a token was stored by the app instead of a ``TokenStore``.
  func checkHasKey() throws(SQOAuthError) {
    guard proofKey == nil, isOfTypeDPoP else { return }
    throw SQOAuthError(
      .tokenNotBound,
      "the token is of the type DPoP, and its key is not known: the key is kept with the account, so "
        + "keep the account in a TokenStore; sign in again")
  }

  /// Returns the token bound to a key.
  package func bound(to key: ProofKey?) -> SQToken {
    key == nil && proofKey == nil
      ? self : SQToken(storage.with(nonce: nonce, idToken: idToken, proofKey: key, ends: ends))
  }

  /// Returns this token with the validated identity of its user.
  package func identifying(_ idToken: IDToken?, nonce: String?) -> SQToken {
    SQToken(storage.with(nonce: nonce, idToken: idToken, proofKey: proofKey, ends: ends))
  }

  /// The known dates at which the refresh token and the user's authorization end.
  var ends: GrantEnds { storage.ends }

  /// Returns this token with different dates for the end of its grant.
  func ending(_ ends: GrantEnds) -> SQToken {
    SQToken(storage.with(nonce: nonce, idToken: idToken, proofKey: proofKey, ends: ends))
  }

  /// The first end of the grant, after which the user must sign in again; `nil` if none is known.
  var firstEnd: GrantEnd? {
    [refreshToken == nil ? nil : ends.refreshToken, ends.authorization].compactMap(\.self)
      .min { $0.date < $1.date }
  }

  /// The text of the ID token as the server sent it, validated or not; `nil` if it sent none.
  var idTokenText: String? {
    additionalFields["id_token"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension SQToken: Redacted {
  /// The token's type, its expiry and whether it has a refresh token, without its secrets.
  public var description: String {
    let expiry = expirationDate.map { "expires \($0.formatted(.iso8601))" } ?? "no known expiry"
    return "SQToken(\(tokenType.printable), \(expiry), "
      + "\(refreshToken == nil ? "no refresh token" : "with a refresh token"))"
  }
}

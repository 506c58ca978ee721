public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An access token and what came with it.
///
/// A value: a refresh makes a new one. It encodes with every field, so keep what you encode as you
/// would keep a password; printing it, reflecting on it or dumping it shows no secret.
///
/// - SeeAlso: RFC 6749, section 5.1
public struct SQToken: Sendable, Hashable, Codable {
  /// The credential that a resource server accepts: an opaque string.
  public var accessToken: String { storage.accessToken }

  /// The moment the access token stops being valid, or `nil` when the server sent no `expires_in`.
  ///
  /// `nil` means unknown, not forever: such a token is used until a server refuses it.
  public var expirationDate: Date? { storage.expirationDate }

  /// How the token is presented, as the server spelled it; compare it without case.
  public var tokenType: String { storage.tokenType }

  /// What the token allows: a list with spaces between the scopes.
  ///
  /// Where the server did not say, it is what was asked for.
  ///
  /// - SeeAlso: RFC 6749, section 3.3
  public var scope: String? { storage.scope }

  /// The credential for the next access token; `nil` when the server gave none.
  public var refreshToken: String? { storage.refreshToken }

  /// When the token was received; with ``expirationDate`` it gives the token's whole life.
  public var issueDate: Date? { storage.issueDate }

  /// The further fields of the token response, uninterpreted.
  ///
  /// A field that the response to a refresh leaves out, such as `id_token`, keeps its value; a field
  /// whose name contains `expir` does not, since a lifetime counts from the response that named it.
  public var additionalFields: [String: JSONValue] { storage.additionalFields }

  /// The `nonce` of the authorization request that the token comes from.
  ///
  /// `nil` for a token of another grant, of a sign-in without the scope `openid`, or of an older
  /// version of the SDK. The SDK makes one for each such sign-in and does not check ID tokens: an app
  /// that reads `id_token` from ``additionalFields`` compares the token's `nonce` with this one,
  /// byte for byte. A refresh keeps it.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, sections 3.1.3.7 and 12.2
  public var nonce: String? { storage.nonce }

  private let storage: Storage

  /// Makes a token from parts that an app kept.
  public init(
    accessToken: String, expirationDate: Date? = nil, tokenType: String = "Bearer",
    scope: String? = nil, refreshToken: String? = nil, issueDate: Date? = nil,
    additionalFields: [String: JSONValue] = [:], nonce: String? = nil
  ) {
    storage = Storage(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType, scope: scope,
      refreshToken: refreshToken, issueDate: issueDate, additionalFields: additionalFields,
      nonce: nonce)
  }

  /// What the token is made of, in one piece: a token is handed out far more often than it is made,
  /// and a copy then counts one reference and not five.
  private final class Storage: Sendable, Redacted {
    let accessToken: String
    let expirationDate: Date?
    let tokenType: String
    let scope: String?
    let refreshToken: String?
    let issueDate: Date?
    let additionalFields: [String: JSONValue]
    let nonce: String?

    init(
      accessToken: String, expirationDate: Date?, tokenType: String, scope: String?,
      refreshToken: String?, issueDate: Date?, additionalFields: [String: JSONValue],
      nonce: String?
    ) {
      self.accessToken = accessToken
      self.expirationDate = expirationDate
      self.tokenType = tokenType
      self.scope = scope
      self.refreshToken = refreshToken
      self.issueDate = issueDate
      self.additionalFields = additionalFields
      self.nonce = nonce
    }
  }

  /// The scopes one by one, in the server's order.
  public var scopes: [String] { Self.split(scope ?? "") }

  /// The scopes of a request that this token does not have.
  public func scopesMissing(from requested: String) -> [String] {
    let granted = Set(scopes)
    return Self.split(requested).filter { !granted.contains($0) }
  }

  /// Whether the token is past its expiration date; `false` where none is known.
  public func isExpired(at date: Date) -> Bool {
    expirationDate.map { $0 <= date } ?? false
  }

  /// Whether neither the access token nor the refresh token says anything.
  var isEmpty: Bool { accessToken.isEmpty && (refreshToken ?? "").isEmpty }

  /// This token as the successor of another one: what the response left out stays as it was.
  ///
  /// A member that is `null` or an empty string counts as left out.
  ///
  /// - SeeAlso: RFC 6749, section 6; OpenID Connect Core 1.0, section 12.2, where a response to a
  ///   refresh may have no `id_token`
  func refreshing(_ previous: SQToken) -> SQToken {
    SQToken(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType,
      scope: scope ?? previous.scope, refreshToken: refreshToken ?? previous.refreshToken,
      issueDate: issueDate,
      additionalFields: previous.lastingFields.merging(additionalFields) {
        old, new in new == .null || new == .string("") ? old : new
      }, nonce: nonce ?? previous.nonce)
  }

  /// This token as the answer to an authorization request with that `nonce`.
  func answering(nonce: String?) -> SQToken {
    SQToken(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType,
      scope: scope, refreshToken: refreshToken, issueDate: issueDate,
      additionalFields: additionalFields, nonce: nonce)
  }

  /// The further fields that hold on after a refresh.
  ///
  /// A lifetime, such as Keycloak's `refresh_expires_in`, counts from the response that named it.
  /// Beside the ``issueDate`` of a later response it would be wrong.
  private var lastingFields: [String: JSONValue] {
    additionalFields.filter { !$0.key.lowercased().contains("expir") }
  }

  private static func split(_ scope: String) -> [String] {
    scope.split(separator: " ").map(String.init)
  }

  /// Reads a token; only `access_token` and `token_type` must be there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      accessToken: try container.decode(String.self, forKey: .accessToken),
      expirationDate: try container.decodeIfPresent(Date.self, forKey: .expirationDate),
      tokenType: try container.decode(String.self, forKey: .tokenType),
      scope: try container.decodeIfPresent(String.self, forKey: .scope),
      refreshToken: try container.decodeIfPresent(String.self, forKey: .refreshToken),
      issueDate: try container.decodeIfPresent(Date.self, forKey: .issueDate),
      additionalFields: try container.decodeIfPresent(
        [String: JSONValue].self, forKey: .additionalFields) ?? [:],
      nonce: try container.decodeIfPresent(String.self, forKey: .nonce))
  }

  /// Writes every field that there is.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(accessToken, forKey: .accessToken)
    try container.encodeIfPresent(expirationDate, forKey: .expirationDate)
    try container.encode(tokenType, forKey: .tokenType)
    try container.encodeIfPresent(scope, forKey: .scope)
    try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
    try container.encodeIfPresent(issueDate, forKey: .issueDate)
    try container.encode(additionalFields, forKey: .additionalFields)
    try container.encodeIfPresent(nonce, forKey: .nonce)
  }

  /// Compares every field.
  public static func == (first: SQToken, second: SQToken) -> Bool {
    if first.storage === second.storage { return true }
    return first.accessToken == second.accessToken
      && first.expirationDate == second.expirationDate && first.tokenType == second.tokenType
      && first.scope == second.scope && first.refreshToken == second.refreshToken
      && first.issueDate == second.issueDate && first.additionalFields == second.additionalFields
      && first.nonce == second.nonce
  }

  /// Hashes what tells tokens apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(accessToken)
    hasher.combine(refreshToken)
  }

  private enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case expirationDate = "expiration_date"
    case tokenType = "token_type"
    case scope
    case refreshToken = "refresh_token"
    case issueDate = "issue_date"
    case additionalFields = "additional_fields"
    case nonce
  }
}

extension SQToken: Redacted {
  /// The token without its secrets.
  public var description: String {
    let expiry = expirationDate.map { "expires \($0.formatted(.iso8601))" } ?? "no known expiry"
    return "SQToken(\(tokenType.printable), \(expiry), "
      + "\(refreshToken == nil ? "no refresh token" : "with a refresh token"))"
  }
}

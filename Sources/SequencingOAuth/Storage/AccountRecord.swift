public import SQBasics
import SQCrypto
import SQFoundation

/// One account as stored: its token, and the data that a refresh needs.
///
/// Treat every field as a secret, like the token.
public struct AccountRecord: Sendable, Hashable, Codable {
  /// The number of refreshes since the sign-in; it does not affect the equality of records.
  struct Generation: Sendable, Hashable {
    let count: Int?

    static func == (one: Self, other: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// The fields of a record.
  struct Values: Sendable, Hashable {
    let id: String
    let clientID: String
    let issuer: String?
    var tokenEndpoint: String?
    var grant: Grant?
    let session: String?
    var generation: Generation
    var reusesRefreshToken: Bool
    var token: SQToken
    var hasVerifiedIDToken: Bool
    /// The session at the provider, if the token's ID token does not name it.
    var earlierSessionID: String?
    var unverifiedToken: SQToken?
    var usedAt: Date?
    var serverNonce: String?
    var attributes: [String: String]
    var laterMembers: [String: JSONValue] = [:]
  }

  private let values: Boxed<Values>

  /// The name that the app uses for the account.
  public var id: String { values.value.id }
  /// The client that signed the user in.
  public var clientID: String { values.value.clientID }
  /// The issuer of the authorization server; `nil` if unknown.
  public var issuer: String? { values.value.issuer }
  /// The token endpoint at the sign-in or at the latest refresh.
  ///
  /// It identifies an authorization server that has no issuer. If the server has an issuer, a
  /// refresh uses this endpoint only if the server's metadata cannot be fetched.
  public var tokenEndpoint: String? { values.value.tokenEndpoint }
  /// The grant that gets a new token for an account without a refresh token, or whose refresh token
  /// the server refuses.
  public var grant: Grant? { values.value.grant }
  /// The identifier of the sign-in that the token comes from; every refresh keeps it.
  ///
  /// If two records of an account have different identifiers, they may belong to different users.
  public var session: String? { values.value.session }
  /// The number of refreshes between the sign-in and the token; `nil` if unknown.
  ///
  /// It is unknown in a record from an app or from an older version of the SDK. It stays unknown
  /// until the next sign-in.
  var generation: Int? { values.value.generation.count }
  /// Whether the latest refresh left the old refresh token valid.
  ///
  /// If so, a refresh whose response is lost does not end the sign-in.
  public var reusesRefreshToken: Bool { values.value.reusesRefreshToken }
  /// The newest token, with the currently valid refresh token and the user's identity.
  public var token: SQToken { values.value.token }
  /// Whether the SDK has validated the ID token, the member `id_token` of ``token``.
  var hasVerifiedIDToken: Bool { values.value.hasVerifiedIDToken }
  /// The identifier of the user's session at the provider (`sid`); `nil` if no ID token named it.
  ///
  /// It comes from the newest ID token with this claim since the sign-in, because many providers
  /// leave it out of the ID tokens of refreshes. Without it, a logout token for the session would
  /// not name this account any more.
  ///
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.1
  package var providerSessionID: String? { token.idToken?.sessionID ?? earlierSessionID }
  /// The session at the provider from an earlier ID token; `nil` if the ID token in ``token`` names
  /// the session.
  var earlierSessionID: String? { values.value.earlierSessionID }
  /// The token of a refresh whose ID token has not been validated yet; `nil` in most records.
  ///
  /// The record's ``token`` already has the refresh token from that refresh, so that it cannot be
  /// lost. The access token from that refresh is not used before the ID token has been validated.
  var unverifiedToken: SQToken? { values.value.unverifiedToken }
  /// Whether a new token can be obtained without the user.
  var isRenewable: Bool { token.refreshToken != nil || grant != nil }
  /// When the app last used the account; `nil` stands for the date of the token.
  ///
  /// It is set after a renewal by an `AccountKeeper`, which is not a use.
  var usedAt: Date? { values.value.usedAt }
  /// The key to which the account's tokens are bound; `nil` for Bearer tokens.
  package var proofKey: ProofKey? { token.proofKey }
  /// The authorization server's newest nonce for DPoP proofs; the next refresh begins with it.
  ///
  /// Without it, a server might ask for a nonce only after it has used up a one-time refresh token.
  ///
  /// - SeeAlso: RFC 9449, section 8
  var serverNonce: String? { values.value.serverNonce }
  /// The app's own data for the account, such as a display name.
  public var attributes: [String: String] { values.value.attributes }
  /// The members that a later version of the SDK has added, including those of the record's parts.
  var laterMembers: [String: JSONValue] { values.value.laterMembers }

  /// Creates a record from its fields.
  public init(
    id: String, clientID: String, issuer: String? = nil, tokenEndpoint: String? = nil,
    grant: Grant? = nil, session: String? = nil, reusesRefreshToken: Bool = false, token: SQToken,
    attributes: [String: String] = [:]
  ) {
    values = Boxed(
      Values(
        id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint, grant: grant,
        session: session, generation: Generation(count: nil),
        reusesRefreshToken: reusesRefreshToken, token: token,
        hasVerifiedIDToken: token.idToken != nil, earlierSessionID: nil, unverifiedToken: nil,
        usedAt: nil, serverNonce: nil, attributes: attributes))
  }

  /// Creates the record of a new sign-in, with a new identifier and a refresh count of zero.
  init(
    signedIn id: String, clientID: String, issuer: String?, tokenEndpoint: String?,
    grant: Grant? = nil, token: SQToken, serverNonce: String? = nil, attributes: [String: String]
  ) {
    values = Boxed(
      Values(
        id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint, grant: grant,
        session: RandomString.make(), generation: Generation(count: 0), reusesRefreshToken: false,
        token: token, hasVerifiedIDToken: token.idToken != nil, earlierSessionID: nil,
        unverifiedToken: nil, usedAt: nil, serverNonce: serverNonce, attributes: attributes))
  }

  init(_ values: Values) {
    self.values = Boxed(values)
  }

  /// Returns the record after a refresh, with the app's current attributes.
  ///
  /// A `pending` token waits for the validation of its ID token: until then, the record keeps its
  /// access token and gets only the refresh token of `new`. `tokenEndpoint` is the issuer's current
  /// token endpoint, if known; it may have changed since the sign-in.
  func refreshed(
    _ new: SQToken, by grant: Grant? = nil, attributes: [String: String], usedAt: Date? = nil,
    pending: SQToken? = nil, serverNonce: String? = nil, tokenEndpoint: String? = nil
  ) -> AccountRecord {
    changed { values in
      values.tokenEndpoint = tokenEndpoint ?? values.tokenEndpoint
      values.grant = grant ?? values.grant
      values.reusesRefreshToken =
        new.refreshToken != nil && new.refreshToken == token.refreshToken
      values.token =
        pending == nil
        ? new : token.keeping(refreshToken: new.refreshToken).ending(new.ends)
      values.unverifiedToken = pending
      values.generation = Generation(count: generation.map { $0 + 1 })
      values.usedAt = usedAt
      values.serverNonce = serverNonce
      values.attributes = attributes
    }
  }

  /// Returns the record without its refresh token, which the server has refused; `nil` if it has
  /// none, or if it has no grant that could replace it.
  ///
  /// It counts as a refresh, so an older record in a store does not replace this one.
  func withoutRefreshToken() -> AccountRecord? {
    guard grant != nil, token.refreshToken != nil else { return nil }
    return changed { values in
      values.reusesRefreshToken = false
      values.token = token.keeping(refreshToken: nil)
      values.unverifiedToken = unverifiedToken?.keeping(refreshToken: nil)
      values.generation = Generation(count: generation.map { $0 + 1 })
    }
  }

  /// Returns the record with new values for the app's own data.
  ///
  /// If the `stored` record is otherwise the same, the result has the members that a later version
  /// of the SDK has added there.
  func with(attributes: [String: String], in stored: AccountRecord? = nil) -> AccountRecord {
    changed { values in
      values.attributes = attributes
      guard let stored else { return }
      let known = [self, stored].map { $0.withoutLaterMembers().with(attributes: [:]) }
      if known[0] == known[1] { values.laterMembers = stored.laterMembers }
    }
  }

  /// Returns the record without ``laterMembers``, which may be damaged names of known members.
  package func withoutLaterMembers() -> AccountRecord {
    changed { $0.laterMembers = [:] }
  }

  /// Returns the record after the validation of its unverified token.
  func verified(_ token: SQToken) -> AccountRecord {
    changed { ($0.token, $0.unverifiedToken) = (token, nil) }
  }

  /// Returns the record with the same token, now with the user's identity.
  func identified(_ token: SQToken) -> AccountRecord {
    changed { $0.token = token }
  }

  private func changed(_ change: (inout Values) -> Void) -> AccountRecord {
    let old = values.value
    var values = old
    change(&values)
    values.laterMembers = Self.laterMembers(from: old, to: values)
    values.hasVerifiedIDToken = values.token.idToken != nil
    values.earlierSessionID =
      values.token.idToken?.sessionID == nil ? providerSessionID : nil
    return AccountRecord(values)
  }

  /// Returns whether the other record resulted from this one by refreshes.
  ///
  /// If a store has this record although it had the other one before, the store went back in time:
  /// a failover lost a save, or a backup was restored.
  package func isAncestor(of other: AccountRecord) -> Bool {
    guard let session, session == other.session, let generation, let later = other.generation else {
      return false
    }
    return generation < later
  }
}

extension AccountRecord: Redacted {
  /// The account and the client, without the token.
  public var description: String {
    "account \"\(id.printable)\" of client \(clientID.printable)"
  }
}

import SQBasics
public import SQFoundation
public import SequencingOAuth

extension SQToken {
  /// Makes a token for a test; no server accepts it.
  ///
  /// A negative `lifetime` makes an expired token, and `nil` makes a token with an unknown
  /// lifetime. With an `idToken`, the user of the token is known.
  ///
  /// - SeeAlso: RFC 6749, section 5.1
  public static func fake(
    _ accessToken: String = "fake-access-token", scope: String? = nil,
    refreshToken: String? = "fake-refresh-token", idToken: IDToken? = nil,
    issuedAt issueDate: Date = Date(), lifetime: Duration? = .seconds(3600)
  ) -> SQToken {
    SQToken(
      accessToken: accessToken,
      expirationDate: lifetime.map { issueDate.addingTimeInterval($0.signedSeconds) },
      scope: scope, refreshToken: refreshToken, issueDate: issueDate,
      additionalFields: idToken.map { ["id_token": .string($0.compactForm)] } ?? [:]
    ).identifying(idToken, nonce: nil)
  }
}

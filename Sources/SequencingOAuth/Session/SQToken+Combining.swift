import SQBasics

// Tokens that combine the values of several responses.
extension SQToken {
  /// Returns this token as the result of a refresh; the previous token fills in missing values.
  ///
  /// A field that is `null` or an empty string counts as missing. The new ID token is not validated
  /// yet, so ``idToken`` remains that of the previous token.
  ///
  /// - SeeAlso: RFC 6749, section 6; OpenID Connect Core 1.0, section 12.2 (the response to a
  ///   refresh may have no `id_token`)
  func refreshing(_ previous: SQToken) -> SQToken {
    SQToken(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType,
      scope: scope ?? additionalFields.scope(ifMissing: previous.scope),
      refreshToken: refreshToken ?? previous.refreshToken,
      issueDate: issueDate,
      additionalFields: previous.lastingFields.merging(additionalFields) {
        old, new in new == .null || new == .string("") ? old : new
      }, redirectParameters: previous.redirectParameters
    ).identifying(idToken ?? previous.idToken, nonce: nonce ?? previous.nonce)
      .bound(to: proofKey ?? previous.proofKey)
      .ending(
        ends.following(
          previous.ends, fields: additionalFields,
          keepsRefreshToken: refreshToken == nil || refreshToken == previous.refreshToken,
          at: issueDate))
  }

  /// Returns this token with the identity of an earlier token, or without an identity.
  ///
  /// The text of this token's ID token is replaced or removed too, because a store saves that text
  /// and reads the identity from it.
  func keepingIdentity(of idToken: IDToken?) -> SQToken {
    var fields = additionalFields
    fields["id_token"] = idToken.map { .string($0.compactForm) }
    return with(refreshToken, fields, redirectParameters).identifying(idToken, nonce: nonce)
  }

  /// Returns this token with the additional parameters of its sign-in's redirect.
  func coming(with redirectParameters: [String: String]) -> SQToken {
    with(refreshToken, additionalFields, redirectParameters)
  }

  /// Returns this token with the refresh token of a later response.
  ///
  /// The expiration date of that refresh token is unknown.
  func keeping(refreshToken: String?) -> SQToken {
    guard refreshToken != self.refreshToken else { return self }
    var ends = ends
    ends.refreshToken = nil
    let fields = additionalFields.filter { !GrantEnd.refreshTokenFields.contains($0.key) }
    return with(refreshToken, fields, redirectParameters).ending(ends)
  }

  /// This token as a token for a part of the account's rights: without a refresh token and without
  /// an identity, which the account has.
  var withoutAccount: SQToken { keeping(refreshToken: nil).keepingIdentity(of: nil) }

  /// Returns this token with a different refresh token, additional fields and redirect parameters.
  private func with(
    _ refreshToken: String?, _ additionalFields: [String: JSONValue],
    _ redirectParameters: [String: String]
  ) -> SQToken {
    SQToken(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType, scope: scope,
      refreshToken: refreshToken, issueDate: issueDate, additionalFields: additionalFields,
      redirectParameters: redirectParameters
    ).identifying(idToken, nonce: nonce).bound(to: proofKey).ending(ends)
  }

  /// The additional fields that stay valid after a refresh.
  ///
  /// A lifetime, such as Keycloak's `refresh_expires_in`, counts from the response that sent it.
  /// With the ``issueDate`` of a later response it would be wrong. A `scope` that could not be read
  /// does not apply to a later token.
  private var lastingFields: [String: JSONValue] {
    additionalFields.filter { field, _ in
      let name = field.asciiLowercased()
      return name != "scope" && !name.contains("expir") && !name.contains("timeout")
    }
  }
}

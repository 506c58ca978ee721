public import SequencingOAuth

/// The access token in the metadata of a call, and the challenge in the metadata of its response.
///
/// - SeeAlso: RFC 6750, sections 2.1 and 3
extension RPCMetadata {
  /// The Bearer token in `authorization`; `nil` if there is none.
  public var oauth2AccessToken: String? {
    guard let value = self["authorization"], value.lowercased().hasPrefix("bearer ") else {
      return nil
    }
    return String(value.dropFirst("bearer ".count))
  }

  /// Sets `authorization` to a Bearer token; `nil` removes the field.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the token is empty or contains a character that is
  ///   not allowed in tokens.
  public mutating func setOAuth2AccessToken(_ token: String?) throws(RPCCallError) {
    guard let token else {
      remove("authorization")
      return
    }
    guard token.isSendableToken else {
      throw RPCCallError(
        .invalidArgument,
        "the access token is empty, or has characters that are not visible ASCII")
    }
    try set("Bearer \(token)", for: "authorization")
  }

  /// Returns metadata with a valid token of an account, for use with another gRPC library.
  ///
  /// The token is refreshed first if necessary. The other library must send the metadata only over
  /// TLS, and only to the server that the token is for. Throws the errors of
  /// `AuthorizationModule.token()`, and `SQOAuthError.Code.sessionReplaced` if another user signs in
  /// meanwhile.
  ///
  /// For a token that is bound to a key, this method throws, because each call needs a proof of its
  /// own. Use `AuthorizationModule.authorization(for:method:)` with the URL of the call, such as
  /// `https://api.example/package.Service/Method`, and the method `POST`.
  public static func authorization(
    of module: AuthorizationModule
  ) async throws(SQOAuthError) -> RPCMetadata {
    let token = try await module.token(of: module.session.owner)
    guard !token.isBound else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the token is bound to a key, so each call needs a proof: use authorization(for:method:) "
          + "with the URL of the call")
    }
    return RPCMetadata(
      fields: module.requestAuthenticator.headerFields(for: token))
  }

  /// The texts as header fields, for the code that authorizes requests.
  var fields: HeaderFields {
    var fields = HeaderFields()
    for entry in entries {
      guard case .text(let value) = entry.value else { continue }
      fields.append(HeaderFields.Field(name: entry.name, value: value))
    }
    return fields
  }

  /// The value of the server's `www-authenticate`; several values are joined by commas.
  public var oauth2ChallengeHeader: String? {
    let values = values(for: "www-authenticate")
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The first challenge in `www-authenticate` with an error code, or else the first challenge.
  public var challenge: TokenChallenge? {
    TokenChallenge.challenges(in: values(for: "www-authenticate")).mostInformative
  }
}

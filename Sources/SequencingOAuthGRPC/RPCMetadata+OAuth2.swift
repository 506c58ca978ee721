public import SequencingOAuth

/// The access token in a call's metadata, and the challenge in what comes back.
///
/// - SeeAlso: RFC 6750, sections 2.1 and 3
extension RPCMetadata {
  /// The token that `authorization` carries, where it is a Bearer token.
  public var oauth2AccessToken: String? {
    guard let value = self["authorization"], value.lowercased().hasPrefix("bearer ") else {
      return nil
    }
    return String(value.dropFirst("bearer ".count))
  }

  /// Puts a token into `authorization`, in the place of whatever is there; `nil` removes it.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` for a token that is empty, or has a character that no
  ///   token has.
  public mutating func setOAuth2AccessToken(_ token: String?) throws(RPCError) {
    guard let token else {
      remove("authorization")
      return
    }
    guard token.isSendableToken else {
      throw RPCError(
        .invalidArgument, "an access token is not empty and has visible characters of ASCII only")
    }
    try set("Bearer \(token)", for: "authorization")
  }

  /// A call's metadata with the token of an account, for a gRPC library other than this one.
  ///
  /// Throws what `AuthorizationModule.token()` throws: the token is valid now, and refreshed first
  /// where it has to be. That library must send it to no other server, and only over TLS.
  public static func authorization(
    of module: AuthorizationModule
  ) async throws(SQOAuthError) -> RPCMetadata {
    let token = try await module.token()
    return RPCMetadata(
      fields: module.environment.requestAuthenticator.headerFields(for: token))
  }

  /// The server's `www-authenticate`; several are joined by a comma, as HTTP has it.
  public var oauth2ChallengeHeader: String? {
    let values = values(for: "www-authenticate")
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The Bearer challenge in it: the first that names an error, else the first.
  public var challenge: BearerChallenge? {
    let challenges = BearerChallenge.challenges(in: values(for: "www-authenticate"))
    return challenges.first { $0.error != nil } ?? challenges.first
  }
}

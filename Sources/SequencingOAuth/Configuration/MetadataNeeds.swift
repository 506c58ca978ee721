/// What a client needs of an issuer's metadata; each case includes those before it.
///
/// Some issuers have a document of RFC 8414 and one of OpenID Connect, and only the latter has what
/// OpenID Connect defines.
package enum MetadataNeeds: Sendable, Comparable, CaseIterable {
  /// The endpoints for sign-ins and tokens.
  case endpoints
  /// The address of the issuer's keys, because the issuer signs messages for the client.
  case keys
  /// What identifies a user: the algorithms of ID tokens, and the UserInfo endpoint.
  case identity

  /// The members without which a document is not enough.
  ///
  /// An OpenID Connect document must have the first and the last one. So a document without them is
  /// not the issuer's OpenID Connect document.
  ///
  /// - SeeAlso: OpenID Connect Discovery 1.0, section 3
  var members: [String] {
    switch self {
    case .endpoints: []
    case .keys: ["jwks_uri"]
    case .identity: ["jwks_uri", "userinfo_endpoint", "id_token_signing_alg_values_supported"]
    }
  }
}

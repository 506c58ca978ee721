import SQBasics

/// What one sign-in asked for, and what the ID token of its answer must say.
///
/// A value can be kept until the answer comes, also by another host.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
package struct ExpectedIdentity: Sendable, Hashable, Codable {
  /// The scopes that were asked for; `nil` for the server's default.
  package let scope: String?
  /// The value that the ID token must repeat; `nil` if none was sent.
  let nonce: String?
  /// The longest time in seconds since the user logged in; `nil` if the request set none.
  let maximumAge: Int64?
  /// The values of `acr` of which the request demanded one; `nil` if it demanded none.
  let essentialContexts: [String]?

  /// Whether only an ID token can show that the request's demands were met.
  var demandsLogin: Bool { maximumAge != nil || essentialContexts?.isEmpty == false }

  enum CodingKeys: String, CodingKey {
    case scope
    case nonce
    case maximumAge = "max_age"
    case essentialContexts = "acr"
  }

  /// Validates the ID token of the answer and returns the token with the identity of its user.
  ///
  /// Without a validator, no ID token was asked for, or none can be verified. `code` is the
  /// authorization code for which the token was issued; `nil` if there is none. Only an answer to a
  /// code must have an ID token, unless the request demanded something of the login.
  func identify(
    _ issued: IssuedToken, code: String?, by validator: IDTokenValidator?
  ) async throws(SQOAuthError) -> SQToken {
    guard let validator else { return issued.token.identifying(nil, nonce: nonce) }
    guard let text = issued.token.idTokenText else {
      // A provider may grant fewer scopes than were asked for, and says so.
      guard issued.token.scopes.contains("openid") else { return issued.token }
      // OpenID Connect Core 1.0, section 3.1.3.3, promises an ID token for a code; RFC 8628 does not
      // for a device.
      guard code != nil || demandsLogin else { return issued.token }
      throw SQOAuthError(
        .idTokenMissing,
        "the scope has \"openid\", but the token response has no ID token; check that the provider "
          + "supports OpenID Connect for this client")
    }
    var expectation = issued.expectation(
      code == nil ? .ifPresent(nonce) : nonce.map { .required($0) } ?? .ifPresent(nil))
    expectation.code = code
    expectation.maximumAge = maximumAge.map { .seconds($0) }
    expectation.essentialContexts = essentialContexts ?? []
    return issued.token.identifying(try await validator.validate(text, expectation), nonce: nonce)
  }
}

extension ExpectedIdentity: Redacted {}

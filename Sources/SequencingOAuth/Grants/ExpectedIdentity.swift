import SQBasics
package import SQFoundation

/// The identity values that a sign-in's ID token must match.
///
/// They can be stored until the response comes, even on another host.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
package struct ExpectedIdentity: Sendable, Hashable, Codable {
  /// The requested scopes; `nil` for the server's default.
  package let scope: String?
  /// The `nonce` that the ID token must have; `nil` if none was sent.
  let nonce: String?
  /// The longest time in seconds since the user logged in; `nil` if the request set none.
  let maximumAge: Int64?
  /// The `acr` values that satisfy the request; `nil` if it demanded none.
  let essentialContexts: [String]?
  /// Whether the ID token in the response could be validated when the request was made; `nil` in
  /// requests of older versions of the SDK, and if it could not.
  let wasVerifiable: Bool?
  /// When the request was made, in seconds since 1970; `nil` before that, and in requests of older
  /// versions of the SDK.
  var requestTime: Int64?

  /// Whether only an ID token can prove that the request's demands were met.
  var demandsLogin: Bool { maximumAge != nil || essentialContexts?.isEmpty == false }

  /// Whether the sign-in may end only with a validated ID token, if the scope asks for one.
  var reliesOnValidation: Bool { wasVerifiable == true || demandsLogin }

  enum CodingKeys: String, CodingKey {
    case scope
    case nonce
    case maximumAge = "max_age"
    case essentialContexts = "acr"
    case wasVerifiable = "verifiable"
    case requestTime = "requested"
  }

  /// When the request was made, by the clock of the host that made it; `nil` if it is not known.
  package var requestDate: Date? {
    requestTime.map { Date(timeIntervalSince1970: Double($0)) }
  }

  /// Returns the values of a request that is made now.
  func requested(at now: Date) -> ExpectedIdentity {
    var expected = self
    expected.requestTime = Int64(exactly: now.timeIntervalSince1970.rounded(.down))
    return expected
  }

  /// Validates the ID token in the response, and returns the token with the identity of its user.
  ///
  /// The validator is `nil` if no ID token was requested or none can be verified. `code` is the
  /// authorization code for which the token was issued, or `nil` for another grant. An ID token is
  /// required if the request set demands on the login, and after an authorization code if the
  /// provider granted the scope `openid`.
  func identify(
    _ issued: IssuedToken, code: String?, by validator: IDTokenValidator?
  ) async throws(SQOAuthError) -> SQToken {
    guard let validator else { return issued.token.identifying(nil, nonce: nonce) }
    guard let text = issued.token.idTokenText else {
      // A provider may grant fewer scopes than requested; then its response says so.
      let isGranted = issued.token.scopes.contains("openid")
      // OpenID Connect Core 1.0, section 3.1.3.3, guarantees an ID token for an authorization code;
      // RFC 8628 does not for a device code.
      guard demandsLogin || isGranted && code != nil else { return issued.token }
      throw SQOAuthError(
        .idTokenMissing,
        isGranted
          ? "the scope has \"openid\", but the token response has no ID token; check that the "
            + "provider supports OpenID Connect for this client"
          : "the provider did not grant \"openid\" and sent no ID token, but only an ID token can "
            + "prove that the login meets the demands of the sign-in, such as a recent login")
    }
    var expectation = issued.expectation(
      code == nil ? .ifPresent(nonce) : nonce.map { .required($0) } ?? .ifPresent(nil))
    expectation.code = code
    expectation.maximumAge = maximumAge.map { .seconds($0) }
    expectation.requestDate = requestDate
    expectation.essentialContexts = essentialContexts ?? []
    return issued.token.identifying(try await validator.validate(text, expectation), nonce: nonce)
  }
}

extension ExpectedIdentity: Redacted {}

import SQBasics
import SQFoundation

/// An authorization response that the server has signed, so that it cannot be changed on its way
/// through the browser.
///
/// - SeeAlso: JWT Secured Authorization Response Mode for OAuth 2.0 (JARM), section 2
struct SignedAuthorizationResponse: Sendable, Redacted {
  let compactForm: String

  /// The claims that are not parameters of the response.
  private static let ownClaims: Set = ["aud", "exp", "iat", "nbf", "jti"]

  /// Returns the parameters in a signed text, without verifying its signature; `nil` if the text
  /// cannot be read.
  static func unverifiedParameters(in text: String) -> [FormCoding.Pair]? {
    (try? SignedText.authorizationResponse.read(text).claims()).map(parameters(in:))
  }

  /// Returns the parameters among the claims of a response.
  static func parameters(in claims: [String: JSONValue]) -> [FormCoding.Pair] {
    claims.sorted { $0.key < $1.key }.compactMap { name, value in
      guard !ownClaims.contains(name), let text = value.string else { return nil }
      return FormCoding.Pair(name, text)
    }
  }

  /// Verifies the signature, and that the response is the issuer's, for this client, and recent.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidAuthorizationResponse``, or the error of a request for the
  ///   issuer's keys.
  /// - SeeAlso: JARM, section 2.4
  func verify(
    by signatures: IssuerSignatures, clientID: String, at now: Date, tolerance: Duration
  ) async throws(SQOAuthError) {
    let claims = try await signatures.claims(of: compactForm, as: .authorizationResponse)
    try Self.check(
      claims, issuer: signatures.issuer, clientID: clientID, at: now, tolerance: tolerance)
  }

  /// Throws unless the claims are of a response of this issuer to this client that has not expired.
  static func check(
    _ claims: [String: JSONValue], issuer: String, clientID: String, at now: Date,
    tolerance: Duration
  ) throws(SQOAuthError) {
    let reader = ClaimReader(
      claims: claims, subject: SignedText.authorizationResponse.name,
      missing: .invalidAuthorizationResponse, malformed: .invalidAuthorizationResponse)
    guard try reader.required("iss", reader.text) == issuer else {
      throw invalid("is from another issuer")
    }
    guard try reader.required("aud", reader.audience) == [clientID] else {
      throw invalid("is for another client")
    }
    guard now < (try reader.required("exp", reader.date)).addingTimeInterval(tolerance.seconds)
    else { throw invalid("has expired") }
  }

  private static func invalid(_ reason: String) -> SQOAuthError {
    SQOAuthError(
      .invalidAuthorizationResponse, "the \(SignedText.authorizationResponse.name) \(reason)")
  }
}

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

  /// Reads a signed text, without verifying its signature.
  static func unverified(_ text: String) -> AuthorizationResponse.Unverified {
    let kind = SignedText.authorizationResponse
    do throws(SQOAuthError) {
      let signed = try kind.read(text)
      let claims = try kind.explaining { () throws(JWSFailure) in try signed.claims() }
      return .parameters(parameters(in: claims))
    } catch {
      let claims = try? CompactJWS.unverifiedClaims(in: text)
      return .unusable(error, claims.map(parameters(in:)) ?? [])
    }
  }

  /// Returns the parameters among the claims of a response.
  static func parameters(in claims: [String: JSONValue]) -> [FormCoding.Pair] {
    claims.sorted { $0.key < $1.key }.compactMap { name, value in
      guard !ownClaims.contains(name), let text = value.string else { return nil }
      return FormCoding.Pair(name, text)
    }
  }

  /// Verifies the signature, and that the response is from the issuer, for this client and valid
  /// now.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidAuthorizationResponse``, or the error of a request for
  ///   the issuer's keys.
  /// - SeeAlso: JARM, section 2.4
  func verify(
    by signatures: IssuerSignatures, clientID: String, at now: Date, tolerance: Duration,
    clockLead: Duration? = nil
  ) async throws(SQOAuthError) {
    let claims = try await signatures.claims(of: compactForm, as: .authorizationResponse)
    try Self.check(
      claims, issuer: signatures.issuer, clientID: clientID, at: now, tolerance: tolerance,
      clockLead: clockLead)
  }

  /// Throws unless the claims are from this issuer, for this client and valid now.
  ///
  /// `clockLead` is used only in the error's message: how far this machine's clock is ahead of the
  /// server's, or `nil` if that is not known.
  static func check(
    _ claims: [String: JSONValue], issuer: String, clientID: String, at now: Date,
    tolerance: Duration, clockLead: Duration? = nil
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
    let clock = ClaimClock(now: now, tolerance: tolerance)
    guard !clock.hasEnded(try reader.required("exp", reader.date)) else {
      throw invalid("has expired" + ClaimClock.advice(clockLead))
    }
    // RFC 7519, section 4.1.5
    guard !(try reader.date("nbf").map(clock.isAhead) ?? false) else {
      throw invalid("is not valid yet" + ClaimClock.advice(clockLead))
    }
  }

  private static func invalid(_ reason: String) -> SQOAuthError {
    SQOAuthError(
      .invalidAuthorizationResponse, "the \(SignedText.authorizationResponse.name) \(reason)")
  }
}

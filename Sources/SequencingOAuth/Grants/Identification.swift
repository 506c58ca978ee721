import SQBasics

/// The validation of the ID token in the response to a refresh.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 12.2
struct Identification: Sendable {
  private let validator: IDTokenValidator
  private let text: String
  private let expectation: IDTokenExpectation

  /// Prepares the validation; returns `nil` if the response has no ID token.
  init?(_ validator: IDTokenValidator, of issued: IssuedToken, after previous: SQToken) {
    guard let text = issued.token.idTokenText else { return nil }
    self.validator = validator
    self.text = text
    var expectation = issued.expectation(.ifPresent(previous.nonce))
    expectation.previous = previous.idToken
    self.expectation = expectation
  }

  /// Validates the ID token, and returns the token with its user's identity.
  ///
  /// Throws if the ID token is from another issuer, for another user, client or sign-in, or has a
  /// wrong signature, or if the issuer's keys cannot be fetched. If it cannot be read or violates
  /// another rule, the token keeps the identity of the sign-in, and `flaw` has the error.
  func run(_ token: SQToken) async throws(SQOAuthError) -> (token: SQToken, flaw: SQOAuthError?) {
    do throws(SQOAuthError) {
      switch try await validator.validateRefreshed(text, expectation) {
      case .success(let idToken): return (token.identifying(idToken, nonce: token.nonce), nil)
      case .failure(let flaw):
        return (token.keepingIdentity(of: expectation.previous), flaw.inRefresh)
      }
    } catch {
      throw error.inRefresh
    }
  }
}

extension Identification: Redacted {}

extension SQOAuthError {
  fileprivate var inRefresh: SQOAuthError {
    var error = self
    error.occasion = .refresh
    return error
  }
}

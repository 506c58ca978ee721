import Basics

/// The validation of the ID token that a refresh brought.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 12.2
struct Identification: Sendable {
  private let validator: IDTokenValidator
  private let text: String
  private let expectation: IDTokenExpectation

  /// Prepares the validation; `nil` if the response has no ID token.
  init?(_ validator: IDTokenValidator, of issued: IssuedToken, after previous: SQToken) {
    guard let text = issued.token.idTokenText else { return nil }
    self.validator = validator
    self.text = text
    var expectation = issued.expectation(.ifPresent(previous.nonce))
    expectation.previous = previous.idToken
    self.expectation = expectation
  }

  /// Returns the token with the identity of its user, who is the same as before.
  func run(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    do throws(SQOAuthError) {
      return token.identifying(
        try await validator.validate(text, expectation), nonce: token.nonce)
    } catch {
      var error = error
      error.occasion = .refresh
      throw error
    }
  }
}

extension Identification: Redacted {}

import SQBasics

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

  /// The token with the identity of its user, who is the same as before.
  ///
  /// If the new ID token says something that it must not, though not about another user or client,
  /// the identity of the sign-in stays, and `flaw` says why.
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

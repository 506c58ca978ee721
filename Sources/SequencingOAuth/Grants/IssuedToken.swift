import SQBasics
import SQFoundation

/// A token from the token endpoint; its ID token is not validated yet.
struct IssuedToken: Sendable {
  let token: SQToken
  /// How far this machine's clock is ahead of the server's; `nil` if the response has no date.
  let clockLead: Duration?

  /// Creates an issued token without the server's time.
  init(_ token: SQToken) {
    self.token = token
    clockLead = nil
  }

  /// Creates an issued token with the server's time, from the response's field `Date`.
  init(_ token: SQToken, serverDate: String?, receivedAt now: Date) {
    self.token = token
    clockLead = HTTPDate.lead(serverDate, at: now).map { .seconds($0.rounded(.towardZero)) }
  }

  /// Returns the values that the ID token of this response must match.
  func expectation(_ nonce: IDTokenExpectation.Nonce) -> IDTokenExpectation {
    IDTokenExpectation(accessToken: token.accessToken, nonce: nonce, clockLead: clockLead)
  }
}

extension IssuedToken: Redacted {}

extension TokenResponse {
  /// Returns the token in a server's response.
  func issued(by response: WebResponse) throws(SQOAuthError) -> IssuedToken {
    IssuedToken(
      try read(response), serverDate: response.headers["Date"], receivedAt: context.receivedAt)
  }
}

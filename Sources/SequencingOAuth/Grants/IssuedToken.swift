import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A token as it came from the token endpoint; its ID token is not validated yet.
struct IssuedToken: Sendable {
  let token: SQToken
  /// By how much this machine's clock is ahead of the server's; `nil` if the response has no date.
  let clockLead: Duration?

  /// Takes a token whose response is not known any more.
  init(_ token: SQToken) {
    self.token = token
    clockLead = nil
  }

  /// Takes a token from its response, whose field `Date` tells the server's time.
  init(_ token: SQToken, serverDate: String?, receivedAt now: Date) {
    self.token = token
    clockLead = serverDate.flatMap { HTTPDate.parse($0, now: now) }.map {
      .seconds(now.timeIntervalSince($0).rounded(.towardZero))
    }
  }

  /// What the ID token of this response must fit.
  func expectation(_ nonce: IDTokenExpectation.Nonce) -> IDTokenExpectation {
    IDTokenExpectation(accessToken: token.accessToken, nonce: nonce, clockLead: clockLead)
  }
}

extension IssuedToken: Redacted {}

extension TokenResponse {
  /// The token in a response of the server that has just arrived.
  func issued(by response: HTTPResponse) throws(SQOAuthError) -> IssuedToken {
    IssuedToken(
      try read(response), serverDate: response.headers["Date"], receivedAt: context.receivedAt)
  }
}

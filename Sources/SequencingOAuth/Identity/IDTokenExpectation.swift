import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an ID token must fit besides the client and its server: the request that it answers.
package struct IDTokenExpectation: Sendable {
  /// The rule for the claim `nonce`.
  package enum Nonce: Sendable {
    /// The claim must be there and equal this value.
    case required(String)
    /// The claim may be missing, and otherwise must equal this value if there is one.
    case ifPresent(String?)
  }

  /// The access token of the response that brought the ID token.
  let accessToken: String
  let nonce: Nonce
  /// The authorization code; `nil` for other grants.
  var code: String?
  /// The longest time since the user logged in at the provider; `nil` if the request set none.
  var maximumAge: Duration?
  /// The values of `acr` of which the request demanded one; empty if it demanded none.
  var essentialContexts: [String] = []
  /// The ID token of the sign-in, which that of a refresh must continue.
  var previous: IDToken?
  /// The difference between this machine's clock and the server's, if the response had a date.
  var clockLead: Duration?
}

extension IDTokenExpectation {
  /// Expects the ID token of a response that brought an access token.
  package init(accessToken: String, nonce: Nonce) {
    self.init(accessToken: accessToken, nonce: nonce, code: nil)
  }
}

extension IDTokenExpectation: Redacted {}

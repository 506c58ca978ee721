import SQBasics
import SQFoundation

/// The values of a request and its response that an ID token must match.
package struct IDTokenExpectation: Sendable {
  /// The rule for the claim `nonce`.
  package enum Nonce: Sendable {
    /// The claim must be present and equal this value.
    case required(String)
    /// The claim may be missing. If it is present, it must equal this value; `nil` accepts any
    /// value.
    case ifPresent(String?)
  }

  /// The access token in the same response as the ID token.
  let accessToken: String
  let nonce: Nonce
  /// The authorization code; `nil` for a grant without such a code.
  var code: String?
  /// The longest time from the user's login at the provider to the request; `nil` if the request
  /// set none.
  var maximumAge: Duration?
  /// When the request was made, by the clock of the host that made it; `nil` counts as now.
  var requestDate: Date?
  /// The `acr` values that satisfy the request; empty if it demanded none.
  var essentialContexts: [String] = []
  /// The ID token of the sign-in; a refresh's ID token must match it.
  var previous: IDToken?
  /// How far this machine's clock is ahead of the server's; `nil` if the response had no date.
  var clockLead: Duration?
}

extension IDTokenExpectation {
  /// Creates the expectation for the ID token in a response with this access token.
  package init(accessToken: String, nonce: Nonce) {
    self.init(accessToken: accessToken, nonce: nonce, code: nil)
  }
}

extension IDTokenExpectation: Redacted {}

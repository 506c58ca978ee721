/// The result of passing a redirect to the SDK.
///
/// Only ``answered`` changes anything; any other redirect has no effect on the sign-in.
public enum RedirectOutcome: Sendable, Hashable {
  /// The redirect was the response to the sign-in, and was accepted.
  ///
  /// The sign-in continues with it, or ends with the error in the response. If the same redirect
  /// comes again, the result is the same, but the redirect has no further effect. A redirect may
  /// come again because the user reloads the page or the system delivers it twice.
  case answered
  /// No sign-in waits for a redirect: none is running, or the browser is not open yet.
  case noSignIn
  /// The redirect is not for the redirect URI of the running sign-in.
  ///
  /// It may be for another part of the app, or for another account. A path without scheme, host and
  /// port, as web servers provide it, is a foreign address too.
  case foreignAddress
  /// The redirect does not contain the `state` of the running sign-in.
  ///
  /// It is forged, or it belongs to an earlier sign-in. The sign-in still waits; a logout at the
  /// provider ends with an error.
  ///
  /// - SeeAlso: RFC 6749, section 10.12
  case wrongState
  /// The redirect is for a sign-in that already got a different response or ended without one.
  ///
  /// A user may come back after the sign-in's time limit. The SDK recognizes only the last sign-in
  /// that has ended.
  case tooLate
}

extension RedirectOutcome {
  init(_ offer: PendingAuthorization.OfferResult) {
    self =
      switch offer {
      case .taken, .repeated: .answered
      case .notAddressed: .foreignAddress
      case .wrongState: .wrongState
      case .tooLate: .tooLate
      }
  }
}

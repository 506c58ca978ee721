/// What happened to a redirect that the app passed on.
///
/// Only ``answered`` changes anything; any other redirect leaves the sign-in as it was.
public enum RedirectOutcome: Sendable, Hashable {
  /// The redirect was the answer to the sign-in, and was accepted.
  ///
  /// The sign-in continues with it, or ends with the error that the answer carries. The same redirect
  /// counts once, but it is the answer each time that it comes: a browser repeats a request if the
  /// user reloads the page, and the system may deliver a redirect twice.
  case answered
  /// No sign-in waits for a redirect: none is under way, or the browser is not open yet.
  case noSignIn
  /// The redirect goes to another redirect URI than the one of the sign-in under way.
  ///
  /// It may be for another part of the app, or for another account. A path without the scheme, the
  /// host and the port, which is what web servers pass on, is a foreign address too.
  case foreignAddress
  /// The redirect does not carry the `state` of the sign-in under way.
  ///
  /// It is forged, or it answers an earlier sign-in. The sign-in still waits.
  ///
  /// - SeeAlso: RFC 6749, section 10.12
  case wrongState
  /// The redirect carries the `state` of a sign-in that already had another answer, or has ended
  /// without one.
  ///
  /// A user may come back after the time for the sign-in is over. The SDK recognizes only the last
  /// sign-in that has ended.
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

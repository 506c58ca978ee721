/// What became of a redirect that the app passed on.
///
/// Only ``answered`` changes anything: every other redirect leaves the sign-in as it was.
public enum RedirectOutcome: Sendable, Hashable {
  /// The redirect was the answer to the sign-in under way, and was taken.
  ///
  /// The sign-in goes on with it, or ends with the error that the answer carries.
  case answered
  /// No sign-in waits for a redirect: none is under way, or it has not opened the browser yet.
  case noSignIn
  /// The redirect is addressed to another redirect URI than the one of the sign-in under way.
  ///
  /// It may be for another part of the app, or for another account. A path without the scheme, the
  /// host and the port, as web servers hand it over, is a foreign address too.
  case foreignAddress
  /// The redirect does not carry the `state` of the sign-in under way.
  ///
  /// It is forged, or the answer to an earlier sign-in. The sign-in still waits.
  ///
  /// - SeeAlso: RFC 6749, section 10.12
  case wrongState
  /// The redirect carries the `state` of a sign-in that was answered or has ended before.
  ///
  /// The system or the browser may deliver a redirect twice, and a user may come back after the time
  /// for the sign-in is over. Of the sign-ins that have ended only the last one is known.
  case tooLate
}

extension RedirectOutcome {
  init(_ offer: PendingAuthorization.Offer) {
    self =
      switch offer {
      case .taken: .answered
      case .notAddressed: .foreignAddress
      case .wrongState: .wrongState
      case .tooLate: .tooLate
      }
  }
}

/// The redirects that a sign-in rejected, to explain its failure.
struct RejectedRedirects: Sendable {
  private var sawWrongState = false
  private var sawOtherAddress = false
  /// The last error in a redirect without a `state`.
  private var unboundError: ErrorResponse?
  /// The reason why the last rejected signed response could not be used.
  private var unreadable: SQOAuthError?

  /// Records a redirect to a different address.
  mutating func rejectedOtherAddress() {
    sawOtherAddress = true
  }

  /// Records a redirect without the sign-in's `state`.
  ///
  /// `error` is the error of a redirect that had no `state` at all.
  mutating func rejectedState(saying error: ErrorResponse?) {
    sawWrongState = true
    unboundError = error ?? unboundError
  }

  /// Records a signed response that could not be used.
  mutating func rejectedSigned(because error: SQOAuthError) {
    unreadable = error
  }

  /// Returns the error of a sign-in that reached its time limit.
  ///
  /// The error gives the most likely reason:
  ///
  /// - A signed response could not be used. Anyone may have sent it, so it did not end the sign-in.
  /// - A redirect had a wrong `state`, and no redirect had the right one. A forged redirect must
  ///   not end a sign-in, but a server that changes or omits `state` has the same effect.
  /// - The receiver refused a request, possibly the browser's. `refused` describes the last refused
  ///   request.
  /// - The receiver closed connections. One of them may have been the browser's, so perhaps the
  ///   user did sign in.
  /// - If the app itself receives the redirect, the message says what the app passed on, because a
  ///   mistake in the app looks like a user who did nothing.
  func error(
    after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int, refused: String?
  ) -> SQOAuthError {
    let seconds = timeout.components.seconds
    if let unreadable {
      return SQOAuthError(
        unreadable.code,
        "a signed response came that could not be used: \(unreadable.message); no other response "
          + "came within \(seconds) s")
    }
    if sawWrongState {
      let what = unboundError?.withoutState ?? "a redirect with a wrong state was refused"
      return SQOAuthError(
        .stateMismatch,
        "\(what), and no redirect with the right state came within \(seconds) s")
    }
    if let refused {
      return SQOAuthError(.timedOut, "no redirect came within \(seconds) s; \(refused)")
    }
    if turnedAway > 0 {
      return SQOAuthError(
        .redirectUnavailable,
        "no redirect came within \(seconds) s, but other programs opened too many connections to "
          + "the port of the redirect URI: the SDK closed \(turnedAway) of them, perhaps also the "
          + "browser's; end those programs and sign in again")
    }
    return SQOAuthError(
      .timedOut,
      "no redirect came within \(seconds) s\(receiver == .app ? hint : ""); if the server showed an "
        + "error page, for example because it does not know the client or the redirect URI, the SDK "
        + "cannot see it")
  }

  /// A possible mistake of an app that receives the redirect itself.
  private var hint: String {
    guard sawOtherAddress else { return "; your app passed no redirect to handleRedirect" }
    return "; the URLs that your app passed to handleRedirect do not begin with the redirect "
      + "URI: pass the whole URL, with its scheme, host and port"
  }
}

extension ErrorResponse {
  /// A description of an error in a redirect without a `state`; anyone may have sent it.
  package var withoutState: String {
    let description = errorDescription.map { " (\($0))" } ?? ""
    return "a redirect without a state said: \(error)\(description); without a state, it may "
      + "belong to any sign-in, so it was refused"
  }
}

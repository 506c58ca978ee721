/// The redirects that a sign-in was offered and did not accept, and what they tell at its end.
struct RedirectMisses: Sendable {
  private var sawWrongState = false
  private var sawOtherAddress = false
  /// The last error that came without a `state`.
  private var unboundError: ErrorResponse?

  /// Notes a redirect to another address.
  mutating func missedAddress() {
    sawOtherAddress = true
  }

  /// Notes a redirect without the sign-in's `state`, and the error in it if it had no `state` at all.
  mutating func missedState(saying error: ErrorResponse?) {
    sawWrongState = true
    unboundError = error ?? unboundError
  }

  /// The error of a sign-in whose time is over.
  ///
  /// It gives the most likely reason. Redirects with a wrong `state` and none with the right one: a
  /// forged redirect must not end a sign-in, but a server that alters or forgets `state` causes the
  /// same. A request that the receiver refused: it may have been the browser's. Connections that the
  /// receiver turned away: the browser's may have been among them, so perhaps the user did sign in.
  /// If the app is the receiver, the message says what the app passed on, since a mistake in the app
  /// looks like a user who did nothing. `refused` explains what the receiver refused last.
  func error(
    after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int, refused: String?
  ) -> SQOAuthError {
    let seconds = timeout.components.seconds
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

  /// What an app that receives the redirect itself may have done wrong.
  private var hint: String {
    guard sawOtherAddress else { return "; your app passed no redirect to handleRedirect" }
    return "; the URLs that your app passed to handleRedirect do not begin with the redirect "
      + "URI: pass the whole URL, with its scheme, host and port"
  }
}

extension ErrorResponse {
  /// The error of a redirect without a `state`, which may come from anyone.
  package var withoutState: String {
    let description = errorDescription.map { " (\($0))" } ?? ""
    return "a redirect without a state said: \(error)\(description); without a state it may be an "
      + "answer to anybody, so it was refused"
  }
}

import SQBasics
import SQFoundation

/// The wait of a sign-in or logout for the redirect from the browser.
struct RedirectWait: Sendable {
  /// The redirect URI of the request, with the port that the SDK listens on.
  let redirectURI: String
  /// The server at the loopback address; `nil` if the app receives the redirect.
  let receiver: LoopbackRedirectReceiver?
  /// The wait for a text browser, in case such a browser opens the page in the program's terminal.
  private let textBrowser: TerminalBrowserWait
  private let clock: any WallClock
  private let timeout: Duration

  /// Opens the port if the SDK receives the redirect.
  init(
    _ redirect: RedirectURI, _ client: RegisteredClient, acceptsForms: Bool = false
  ) throws(SQOAuthError) {
    switch redirect.kind {
    case .loopback(let address):
      let receiver = try LoopbackRedirectReceiver(
        address, style: client.environment.landingPage, acceptsForms: acceptsForms)
      self.receiver = receiver
      redirectURI = receiver.redirectURI
    case .app:
      receiver = nil
      redirectURI = redirect.string
    }
    textBrowser = TerminalBrowserWait(expectsRedirect: receiver != nil)
    clock = client.environment.clock
    timeout = client.configuration.signInTimeout
  }

  /// Opens the browser and waits for the response, the time limit or a cancellation.
  ///
  /// `open` and `timeOut` run in their own tasks. Each task can end the wait, and the end of the
  /// wait cancels both tasks.
  func response<Response>(
    _ response: () async throws(SQOAuthError) -> Response,
    opening open: @escaping @Sendable () async -> Void,
    atTimeout timeOut: @escaping @Sendable () -> Void
  ) async throws(SQOAuthError) -> Response {
    let opening = Task { [textBrowser] in
      await TerminalBrowserWait.$current.withValue(textBrowser) { await open() }
    }
    let ending = Task {
      try await clock.sleep(for: timeout)
      // A process that was suspended may not have read a redirect that came in time.
      await receiver?.settle()
      timeOut()
    }
    defer {
      opening.cancel()
      ending.cancel()
    }
    return try await response()
  }

  /// Closes the port, and returns when no text browser uses the terminal any longer.
  ///
  /// If a redirect came, the user can read the final page in the text browser, at most for the time
  /// limit of a sign-in. Otherwise, this ends the text browser.
  func end(isAnswered: Bool) async {
    await receiver?.stop()
    await textBrowser.end { [clock, timeout] in
      guard isAnswered else { return }
      try? await clock.sleep(until: clock.now.addingTimeInterval(timeout.seconds))
    }
  }
}

import SQBasics
import SQFoundation
import SQLoopback

/// The page that the browser shows after the redirect: fixed texts, without the redirect's content.
enum LandingPage: Sendable {
  case signedIn
  case denied
  case failed(SQOAuthError.Code)
  /// The redirect does not belong to this sign-in; the correct redirect may still come.
  case wrongState
  /// The sign-in already got another response, or has ended without one.
  case tooLate
  /// The provider has logged the user out.
  case loggedOut
  /// The response was accepted, and the app is still getting the token.
  case underWay
  case notFound
  /// The request was too large for the receiver, so none of it was read.
  case tooLarge(status: Int)

  /// Chooses the page for a request that is too large; `nil` for any other refused request.
  ///
  /// If there is no page, the HTTP server sends its own response.
  init?(_ refusal: LoopbackRefusal) {
    guard case .tooLarge(let status) = RefusedRequest(refusal) else { return nil }
    self = .tooLarge(status: status)
  }

  /// Chooses the page for the result of a sign-in.
  init(outcome: Result<SQToken, SQOAuthError>) {
    switch outcome {
    case .success: self = .signedIn
    case .failure(let error) where error.isDenial: self = .denied
    case .failure(let error): self = .failed(error.code)
    }
  }

  /// Chooses the page for a redirect.
  ///
  /// If the redirect was accepted, the call waits at most 10 s for the sign-in's result. A repeated
  /// redirect is treated like an accepted one.
  init(
    for offer: PendingAuthorization.OfferResult, outcome: OneShot<LandingPage>,
    by clock: any WallClock
  ) async {
    switch offer {
    case .notAddressed: self = .notFound
    case .wrongState: self = .wrongState
    case .tooLate: self = .tooLate
    case .taken, .repeated: self = await Self.outcome(outcome, clock)
    }
  }

  /// Chooses the page for the redirect of a logout.
  init(forLogout offer: PendingAuthorization.OfferResult) {
    self =
      switch offer {
      case .notAddressed: .notFound
      // In each of these cases, the app's tokens are already erased.
      case .taken, .repeated, .wrongState, .tooLate: .loggedOut
      }
  }

  /// Waits a short time for the result, because the browser shows nothing until it gets a page.
  private static func outcome(
    _ outcome: OneShot<LandingPage>, _ clock: any WallClock
  ) async -> LandingPage {
    await withTaskGroup(of: LandingPage?.self) { group in
      group.addTask { await outcome.value() }
      group.addTask {
        try? await clock.sleep(for: .seconds(10))
        return nil
      }
      defer { group.cancelAll() }
      let first: LandingPage? = await group.next().flatMap(\.self)
      return first ?? .underWay
    }
  }
}

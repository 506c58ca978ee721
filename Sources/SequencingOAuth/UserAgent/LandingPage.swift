import SQBasics
import SQLoopback

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The page that the browser shows after the redirect: fixed texts, and nothing from the redirect.
enum LandingPage: Sendable {
  case signedIn
  case denied
  case failed(SQOAuthError.Code)
  /// The redirect did not answer this sign-in; the right one may still come.
  case wrongState
  /// The sign-in already had another answer, or has ended without one.
  case tooLate
  /// The provider has logged the user out.
  case loggedOut
  /// The answer was accepted, and the app is still getting the token.
  case underWay
  case notFound
  /// The request was too large for the receiver, so nothing of it was read.
  case tooLarge(status: Int)

  /// Chooses the page for a request that the server below refuses; `nil` for its own answer.
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

  /// Chooses the page for a redirect; if that was the answer, also once more, it waits a while for the
  /// sign-in's result.
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
      // The app's tokens are gone in each of these cases.
      case .taken, .repeated, .wrongState, .tooLate: .loggedOut
      }
  }

  /// Waits for the result, but not long: until it has a page, the browser shows nothing.
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

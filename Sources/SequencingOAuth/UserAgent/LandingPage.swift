import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the browser shows after the redirect: fixed texts of ours, and nothing of the redirect.
enum LandingPage: Sendable {
  case signedIn
  case denied
  case failed(SQOAuthError.Code)
  /// The redirect was not this sign-in's; the right one may still come.
  case wrongState
  /// The sign-in was answered or ended before.
  case tooLate
  /// The answer was taken and the app is still at work.
  case underWay
  case notFound

  /// The page for the end of a sign-in.
  init(outcome: Result<SQToken, SQOAuthError>) {
    switch outcome {
    case .success: self = .signedIn
    case .failure(let error) where error.isDenial: self = .denied
    case .failure(let error): self = .failed(error.code)
    }
  }

  /// The page for a redirect: where it was the answer, what came of it, within a while.
  init(
    for offer: PendingAuthorization.Offer, outcome: OneShot<LandingPage>, by clock: any WallClock
  ) async {
    switch offer {
    case .notAddressed: self = .notFound
    case .wrongState: self = .wrongState
    case .tooLate: self = .tooLate
    case .taken: self = await Self.outcome(outcome, clock)
    }
  }

  /// A browser shows nothing while it waits, so it does not wait for a slow server's sake.
  private static func outcome(
    _ outcome: OneShot<LandingPage>, _ clock: any WallClock
  ) async -> LandingPage {
    let patience = Task {
      try await clock.sleep(until: clock.now.addingTimeInterval(10))
      outcome.resolve(.underWay)
    }
    defer { patience.cancel() }
    return await outcome.value() ?? .underWay
  }
}

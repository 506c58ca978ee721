import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A failure and the time in which it stands for every further attempt.
///
/// The first lasts 1 s and each one after it twice as long, up to 60 s, or as long as the server
/// asked for (`Retry-After`, RFC 9110, section 10.2.3).
final class BackOff: Sendable {
  /// What went wrong.
  let error: SQOAuthError
  let since: Date
  let until: Date
  private let count: Int

  /// A server that asks for more than this is asked again all the same.
  static let longest: Double = 3600

  /// The failure that follows another one, or the first.
  init(_ error: SQOAuthError, after previous: BackOff?, at now: Date) {
    self.error = error
    count = min((previous?.count ?? 0) + 1, 16)
    let delay = min(Double(1 << (count - 1)), 60)
    let asked = min(error.retryAfter?.seconds ?? 0, Self.longest)
    since = now
    until = now.addingTimeInterval(max(delay, asked))
  }

  /// Whether it still stands; a clock that was moved back does not make it last longer.
  func isInForce(at now: Date) -> Bool {
    since <= now && now < until
  }
}

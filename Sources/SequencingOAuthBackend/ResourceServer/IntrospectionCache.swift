import SQBasics
import SQFoundation

/// A cache of recent introspection results, by the tokens' digests.
///
/// Anyone can send made-up tokens, so the results for tokens that are not active have a place of
/// their own. They never replace the results for active tokens.
final class IntrospectionCache: Sendable {
  private struct Entry: Sendable {
    let claims: AccessTokenClaims?
    /// The time of the request, by the clock's steady time.
    let from: Duration
    let until: Duration

    /// Returns whether the result is still valid at a steady time and a date.
    func counts(at now: Duration, _ date: Date) -> Bool {
      from <= now && now < until && claims?.expirationDate.map { date < $0 } ?? true
    }
  }

  private struct State {
    var active: RecentValues<Data, Entry>
    var inactive: RecentValues<Data, Entry>
    var asked: [Data: Asked] = [:]

    mutating func use(_ digest: Data) -> Entry? {
      active.use(digest) ?? inactive.use(digest)
    }

    mutating func set(_ digest: Data, to entry: Entry?) {
      active.set(digest, to: entry?.claims == nil ? nil : entry)
      inactive.set(digest, to: entry?.claims == nil ? entry : nil)
    }
  }

  /// The running requests about one token.
  private struct Asked: Sendable {
    var questions = 0
    /// The number of calls of `forget` for the token while at least one of its requests runs.
    var forgets = 0
  }

  /// A running request about a token.
  struct Question: Sendable {
    fileprivate let digest: Data
    fileprivate let forgets: Int
  }

  private let keepsResults: Bool
  private let state: Locked<State>

  /// Creates a cache for at most `limit` results for active tokens, and for a tenth as many for
  /// tokens that are not active; with a limit below 2, it keeps none.
  init(limit: Int) {
    keepsResults = limit >= 2
    state = Locked(
      State(active: RecentValues(limit: limit), inactive: RecentValues(limit: limit / 10)))
  }

  /// Returns the known result for a token: its claims, or `.some(nil)` if it is not active.
  ///
  /// Returns `nil` if no result is known.
  func claims(of digest: Data, at now: Duration, _ date: Date) -> AccessTokenClaims?? {
    state.withLock { state in
      guard let entry = state.use(digest) else { return nil }
      guard entry.counts(at: now, date) else {
        state.set(digest, to: nil)
        return nil
      }
      return .some(entry.claims)
    }
  }

  /// Records that a request about a token begins; ``end(_:)`` must follow.
  func begin(_ digest: Data) -> Question {
    state.withLock { state in
      state.asked[digest, default: Asked()].questions += 1
      return Question(digest: digest, forgets: state.asked[digest]?.forgets ?? 0)
    }
  }

  /// Records that a request about a token has ended, with or without a response.
  func end(_ question: Question) {
    state.withLock { state in
      state.asked[question.digest]?.questions -= 1
      if state.asked[question.digest]?.questions == 0 { state.asked[question.digest] = nil }
    }
  }

  /// Stores the result of a request for a limited time, and at most while the token is valid.
  ///
  /// Nothing is stored if the token was forgotten after the request began, because the server may
  /// have responded before the token was revoked.
  func keep(
    _ claims: AccessTokenClaims?, for question: Question, from now: Duration, for time: Duration
  ) {
    guard time > .zero, keepsResults else { return }
    state.withLock { state in
      guard state.asked[question.digest]?.forgets == question.forgets else { return }
      state.set(question.digest, to: Entry(claims: claims, from: now, until: now + time))
    }
  }

  /// Forgets the result for a token, and ignores the results of its running requests.
  func forget(_ digest: Data) {
    state.withLock { state in
      state.set(digest, to: nil)
      state.asked[digest]?.forgets += 1
    }
  }
}

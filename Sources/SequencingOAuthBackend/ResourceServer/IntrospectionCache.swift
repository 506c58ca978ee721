import SQBasics
import SQFoundation

/// A cache of recent introspection results, by the tokens' digests.
///
/// It has two halves, a young and an old one. When the young half is full, it becomes the old half,
/// and the results of the previous old half are dropped. A used result moves to the young half.
/// This way, each call takes constant time.
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
    var young: [Data: Entry] = [:]
    var old: [Data: Entry] = [:]
    var asked: [Data: Asked] = [:]
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

  private let half: Int
  private let state = Locked(State())

  /// Creates a cache for at most `limit` results; with a limit below 2, it keeps none.
  init(limit: Int) {
    half = max(0, limit / 2)
  }

  /// Returns the known result for a token: its claims, or `.some(nil)` if it is not active.
  ///
  /// Returns `nil` if no result is known.
  func claims(of digest: Data, at now: Duration, _ date: Date) -> AccessTokenClaims?? {
    state.withLock { state in
      guard let entry = state.young[digest] ?? state.old[digest] else { return nil }
      guard entry.counts(at: now, date) else {
        state.young[digest] = nil
        state.old[digest] = nil
        return nil
      }
      if state.young[digest] == nil { keep(digest, entry, &state) }
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
    guard time > .zero, half > 0 else { return }
    state.withLock { state in
      guard state.asked[question.digest]?.forgets == question.forgets else { return }
      keep(question.digest, Entry(claims: claims, from: now, until: now + time), &state)
    }
  }

  /// Forgets the result for a token, and ignores the results of its running requests.
  func forget(_ digest: Data) {
    state.withLock { state in
      state.young[digest] = nil
      state.old[digest] = nil
      state.asked[digest]?.forgets += 1
    }
  }

  /// The number of results in the cache.
  var count: Int { state.withLock { Set($0.young.keys).union($0.old.keys).count } }

  private func keep(_ digest: Data, _ entry: Entry, _ state: inout State) {
    if state.young.count >= half, state.young[digest] == nil {
      state.old = state.young
      state.young = [:]
    }
    state.young[digest] = entry
  }
}

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

  /// A limited number of results.
  ///
  /// They are in two halves, a young and an old one. When the young half is full, it becomes the
  /// old half, and the results of the previous old half are dropped. A used result moves to the
  /// young half. This way, each call takes constant time.
  private struct Results {
    let half: Int
    private var young: [Data: Entry] = [:]
    private var old: [Data: Entry] = [:]

    init(half: Int) { self.half = half }

    mutating func use(_ digest: Data) -> Entry? {
      if let entry = young[digest] { return entry }
      guard let entry = old[digest] else { return nil }
      keep(digest, entry)
      return entry
    }

    mutating func keep(_ digest: Data, _ entry: Entry) {
      if young.count >= half, young[digest] == nil {
        old = young
        young = [:]
      }
      young[digest] = entry
    }

    mutating func remove(_ digest: Data) {
      young[digest] = nil
      old[digest] = nil
    }
  }

  private struct State {
    var active: Results
    var inactive: Results
    var asked: [Data: Asked] = [:]

    mutating func use(_ digest: Data) -> Entry? {
      if let entry = active.use(digest) { return entry }
      return inactive.use(digest)
    }

    mutating func keep(_ digest: Data, _ entry: Entry) {
      remove(digest)
      if entry.claims == nil {
        inactive.keep(digest, entry)
      } else {
        active.keep(digest, entry)
      }
    }

    mutating func remove(_ digest: Data) {
      active.remove(digest)
      inactive.remove(digest)
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
    let half = max(0, limit / 2)
    keepsResults = half > 0
    state = Locked(
      State(active: Results(half: half), inactive: Results(half: max(1, half / 10))))
  }

  /// Returns the known result for a token: its claims, or `.some(nil)` if it is not active.
  ///
  /// Returns `nil` if no result is known.
  func claims(of digest: Data, at now: Duration, _ date: Date) -> AccessTokenClaims?? {
    state.withLock { state in
      guard let entry = state.use(digest) else { return nil }
      guard entry.counts(at: now, date) else {
        state.remove(digest)
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
      state.keep(question.digest, Entry(claims: claims, from: now, until: now + time))
    }
  }

  /// Forgets the result for a token, and ignores the results of its running requests.
  func forget(_ digest: Data) {
    state.withLock { state in
      state.remove(digest)
      state.asked[digest]?.forgets += 1
    }
  }
}

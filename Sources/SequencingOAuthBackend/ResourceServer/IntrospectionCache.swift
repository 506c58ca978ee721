import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers about tokens, for a short time each; no token itself is kept.
///
/// It has two generations. When the younger one is full, it becomes the older one, whose answers are
/// forgotten, except those that were used since. So each call takes the same short time.
final class IntrospectionCache: Sendable {
  private struct Entry: Sendable {
    let claims: AccessTokenClaims?
    /// When the server was asked, and up to when the answer counts, by the clock's steady time.
    let from: Duration
    let until: Duration

    /// Whether the answer counts; the end of the token itself is a date.
    func counts(at now: Duration, _ date: Date) -> Bool {
      from <= now && now < until && claims?.expirationDate.map { date < $0 } ?? true
    }
  }

  private struct State {
    var young: [Data: Entry] = [:]
    var old: [Data: Entry] = [:]
    var asked: [Data: Asked] = [:]
  }

  /// The questions about one token that are under way.
  private struct Asked: Sendable {
    var questions = 0
    /// How often the token was forgotten since the first of them.
    var forgets = 0
  }

  /// A question that is under way.
  struct Question: Sendable {
    fileprivate let digest: Data
    fileprivate let forgets: Int
  }

  private let half: Int
  private let state = Locked(State())

  /// Makes a cache of at most `limit` answers.
  init(limit: Int) {
    half = max(1, limit / 2)
  }

  /// What is known about a token: its claims, or that it is not active (`.some(nil)`).
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

  /// Notes that the server is asked about a token; ``end(_:)`` must follow.
  func begin(_ digest: Data) -> Question {
    state.withLock { state in
      state.asked[digest, default: Asked()].questions += 1
      return Question(digest: digest, forgets: state.asked[digest]?.forgets ?? 0)
    }
  }

  /// Notes that a question has its answer or has failed.
  func end(_ question: Question) {
    state.withLock { state in
      state.asked[question.digest]?.questions -= 1
      if state.asked[question.digest]?.questions == 0 { state.asked[question.digest] = nil }
    }
  }

  /// Keeps the answer to a question for some time, and not beyond the token's own life.
  ///
  /// Nothing is kept if the token was forgotten after the question began: the server may have
  /// answered before the token was revoked.
  func keep(
    _ claims: AccessTokenClaims?, for question: Question, from now: Duration, for time: Duration
  ) {
    guard time > .zero else { return }
    state.withLock { state in
      guard state.asked[question.digest]?.forgets == question.forgets else { return }
      keep(question.digest, Entry(claims: claims, from: now, until: now + time), &state)
    }
  }

  /// Forgets what is known about a token, also the answers to the questions under way.
  func forget(_ digest: Data) {
    state.withLock { state in
      state.young[digest] = nil
      state.old[digest] = nil
      state.asked[digest]?.forgets += 1
    }
  }

  /// How many answers are kept.
  var count: Int { state.withLock { Set($0.young.keys).union($0.old.keys).count } }

  private func keep(_ digest: Data, _ entry: Entry, _ state: inout State) {
    if state.young.count >= half, state.young[digest] == nil {
      state.old = state.young
      state.young = [:]
    }
    state.young[digest] = entry
  }
}

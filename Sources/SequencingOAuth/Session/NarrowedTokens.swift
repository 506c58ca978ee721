import SQFoundation

/// A session's tokens that have fewer rights than the account's token; they are never stored.
struct NarrowedTokens {
  private struct Entry {
    let token: SQToken
    let schedule: TokenSchedule
  }

  /// The maximum number of tokens; an app that uses more of them requests some of them again.
  private static let capacity = 100

  private var entries: [NarrowedAccess: Entry] = [:]

  /// Returns the token for a part of the account's rights if it is valid.
  func token(for access: NarrowedAccess, at now: Date) -> SQToken? {
    guard let entry = entries[access], entry.schedule.isUsable(at: now) else { return nil }
    return entry.token
  }

  /// Keeps a token; if there are too many tokens, removes the other token that expires first.
  mutating func keep(_ token: SQToken, for access: NarrowedAccess, at now: Date) {
    entries[access] = Entry(
      token: token, schedule: TokenSchedule(token, knownAt: now, isRenewable: true, jitter: 0))
    guard entries.count > Self.capacity else { return }
    let others = entries.filter { $0.key != access }
    let first = others.min { $0.value.schedule.usableUntil < $1.value.schedule.usableUntil }
    if let first { entries[first.key] = nil }
  }

  /// Forgets a token that a server has refused.
  mutating func forget(_ token: SQToken) {
    entries = entries.filter { $0.value.token.accessToken != token.accessToken }
  }

  mutating func forgetAll() { entries = [:] }
}

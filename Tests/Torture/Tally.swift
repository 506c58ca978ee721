import SQBasics

/// The counts of all actions, and the record of what happened to each account.
final class Tally: Sendable {
  private struct State {
    var deeds: [String: Int] = [:]
    var ends: [String: Int] = [:]
    var residue: [String: Int] = [:]
    var lost: [String] = []
    /// Why an answer for an account may have been lost since the account last worked, and when.
    var suspicion: [Account: (reason: String, since: ContinuousClock.Instant)] = [:]
    /// How often an account was lost or signed in again.
    var changes: [Account: Int] = [:]
    /// The accounts that were lost and have not been signed in again.
    var absent: Set<Account> = []
    /// The events of each account, the newest last.
    var history: [Account: [String]] = [:]
  }

  /// When a program was started, and how often its account had been lost or signed in again.
  struct Start: Sendable {
    fileprivate let instant = ContinuousClock.now
    fileprivate let changes: Int
  }

  private static let remembered = 40
  private let state = Locked(State())
  private let birth = ContinuousClock.now
  private let tokenLifetime: Duration

  init(tokenLifetime: Duration) {
    self.tokenLifetime = tokenLifetime
  }

  /// Records an event of an account for the report of its loss.
  func happened(_ event: String, to account: Account) {
    let line = "\(ContinuousClock.now - birth) \(event)"
    state.withLock { state in
      let history = state.history[account, default: []] + [line]
      state.history[account] = history.suffix(Self.remembered)
    }
  }

  func did(_ deed: String) { state.withLock { $0.deeds[deed, default: 0] += 1 } }

  func ended(_ end: String) { state.withLock { $0.ends[end, default: 0] += 1 } }

  /// Records that an answer of the server may have been lost, and why.
  func suspects(_ reason: String, of account: Account) {
    state.withLock { $0.suspicion[account] = (reason, .now) }
    happened("suspected: \(reason)", to: account)
  }

  func start(_ account: Account) -> Start {
    state.withLock { Start(changes: $0.changes[account] ?? 0) }
  }

  /// Records that the account works.
  ///
  /// This clears a suspicion if every token from before the suspicion had expired when the program
  /// was started. A program that was started earlier may have had an old token.
  func works(_ account: Account, _ start: Start) {
    state.withLock { state in
      guard let suspicion = state.suspicion[account],
        suspicion.since + tokenLifetime < start.instant
      else { return }
      state.suspicion[account] = nil
    }
  }

  /// Records that the server no longer accepts the account's tokens.
  ///
  /// - Returns: Whether this program is the first to find out.
  func lost(_ account: Account, _ start: Start, _ words: String) -> Bool {
    state.withLock { state in
      guard state.changes[account] ?? 0 == start.changes, !state.absent.contains(account) else {
        return false
      }
      state.changes[account, default: 0] += 1
      state.absent.insert(account)
      if let suspicion = state.suspicion.removeValue(forKey: account) {
        state.residue[suspicion.reason, default: 0] += 1
      } else {
        state.lost.append("\(account): \(words)\n" + Self.text(of: state.history[account]))
      }
      return true
    }
  }

  /// Records a new sign-in.
  ///
  /// Programs that were started before the sign-in found no account, so their losses do not count.
  func signedIn(_ account: Account) {
    state.withLock { state in
      state.changes[account, default: 0] += 1
      state.absent.remove(account)
    }
  }

  /// Returns the latest events of an account, one per line.
  func history(of account: Account) -> String {
    state.withLock { Self.text(of: $0.history[account]) }
  }

  private static func text(of events: [String]?) -> String {
    (events ?? []).map { "    \($0)" }.joined(separator: "\n")
  }

  var losses: [String] { state.withLock(\.lost) }

  var report: String {
    let state = state.withLock(\.self)
    let lines = { (title: String, counts: [String: Int]) in
      ["\(title):"]
        + counts.sorted { $0.key < $1.key }
        .map { "  \("\($0.value)".leftPadded(to: 6))  \($0.key)" }
    }
    return
      (lines("What was done", state.deeds) + lines("How runs ended", state.ends)
      + lines("Residue: sign-ins lost to what no client can prevent", state.residue)
      + ["Lost otherwise: \(state.lost.count)"] + state.lost.map { "  \($0)" })
      .joined(separator: "\n")
  }
}

extension String {
  fileprivate func leftPadded(to count: Int) -> String {
    String(repeating: " ", count: max(0, count - self.count)) + self
  }
}

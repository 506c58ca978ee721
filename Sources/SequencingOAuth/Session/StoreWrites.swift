import Basics

/// The changes of the store that were asked for, in order.
///
/// It stands in the session's state, so that the order is that of the decisions. Whoever adds to it
/// sees to it, outside the lock, that the changes are made: ``TokenSession/runWrites(here:)``.
struct StoreWrites {
  /// How a change ended.
  typealias Write = OneShot<Result<Void, SQOAuthError>>

  enum Change: Sendable {
    case save(AccountRecord)
    case erase
  }

  struct Job: Sendable {
    let change: Change
    let store: any TokenStore
    let end: Write
  }

  private var jobs: [Job] = []
  private var isRunning = false
  private(set) var last: Write?
  private var lastIsErase = false
  /// Why the store refused the last change, if that was an end.
  private(set) var owed: SQOAuthError?
  /// Whether the last change was an end that the store refused.
  var owesErase: Bool { owed != nil }

  /// Whether an end is on its way: there is nothing in the store that counts.
  var isErasing: Bool { lastIsErase && !owesErase && (isRunning || !jobs.isEmpty) }

  /// Adds a change behind those that were asked for.
  mutating func add(_ change: Change, to store: any TokenStore) -> Write {
    let job = Job(change: change, store: store, end: Write())
    jobs.append(job)
    last = job.end
    if case .erase = change { lastIsErase = true } else { lastIsErase = false }
    owed = nil
    return job.end
  }

  /// Whether somebody has to make the changes, who then is the only one.
  mutating func beginRunning() -> Bool {
    guard !isRunning, !jobs.isEmpty else { return false }
    isRunning = true
    return true
  }

  /// The next change; `nil` when there is none, and the run is over.
  mutating func next() -> Job? {
    guard jobs.isEmpty else { return jobs.removeFirst() }
    isRunning = false
    return nil
  }

  /// The store refused an end; a record that is on its way replaces what was to be erased.
  mutating func didNotErase(_ job: Job, _ error: SQOAuthError) {
    owed = last === job.end ? error : nil
  }
}

import Basics

/// The changes of an account in the store that a session asked for, in order.
///
/// A value that does no input or output: ``StoredAccount`` makes the changes.
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
  /// Why the store refused the last change, if that was an erasure.
  private(set) var owedErase: SQOAuthError?

  /// Whether an erasure is on its way: what the store has does not count any more.
  var isErasing: Bool { lastIsErase && owedErase == nil && (isRunning || !jobs.isEmpty) }

  /// Adds a change after those that were asked for.
  mutating func add(_ change: Change, to store: any TokenStore) -> Write {
    let job = Job(change: change, store: store, end: Write())
    jobs.append(job)
    last = job.end
    if case .erase = change { lastIsErase = true } else { lastIsErase = false }
    owedErase = nil
    return job.end
  }

  /// Whether the caller has to make the changes; no other caller does until there are none.
  mutating func beginRunning() -> Bool {
    guard !isRunning, !jobs.isEmpty else { return false }
    isRunning = true
    return true
  }

  /// The next change; `nil` when there is none, which ends the run.
  mutating func next() -> Job? {
    guard jobs.isEmpty else { return jobs.removeFirst() }
    isRunning = false
    return nil
  }

  /// Takes note that the store refused a change.
  ///
  /// An erasure is owed then, unless a record that is on its way replaces what was to be erased.
  mutating func didFail(_ job: Job, _ error: SQOAuthError) {
    if case .erase = job.change { owedErase = last === job.end ? error : nil }
  }
}

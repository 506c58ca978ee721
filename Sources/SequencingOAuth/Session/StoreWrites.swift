import Basics

/// The changes of an account in the store that a session has requested, in order.
///
/// This value does no input or output: ``StoredAccount`` makes the changes.
struct StoreWrites {
  /// The result of a change, for which callers can wait.
  typealias PendingWrite = OneShot<Result<Void, SQOAuthError>>

  enum Change: Sendable {
    case save(AccountRecord)
    case erase
  }

  struct Job: Sendable {
    let change: Change
    let store: any TokenStore
    let end: PendingWrite
  }

  private var jobs: [Job] = []
  private var isRunning = false
  private(set) var last: PendingWrite?
  private var lastIsErase = false
  /// The error of the last change, if that was an erasure and it failed.
  private(set) var failedErase: SQOAuthError?

  /// Whether the last requested change is an erasure under way, so the stored record counts no
  /// more.
  var isErasing: Bool { lastIsErase && failedErase == nil && (isRunning || !jobs.isEmpty) }

  /// Adds a change after the other requested changes.
  mutating func add(_ change: Change, to store: any TokenStore) -> PendingWrite {
    let job = Job(change: change, store: store, end: PendingWrite())
    jobs.append(job)
    last = job.end
    if case .erase = change { lastIsErase = true } else { lastIsErase = false }
    failedErase = nil
    return job.end
  }

  /// Whether the caller must make the changes; no other caller makes them until all are made.
  mutating func beginRunning() -> Bool {
    guard !isRunning, !jobs.isEmpty else { return false }
    isRunning = true
    return true
  }

  /// Removes the next change and returns it; if there is none, returns `nil` and ends the run.
  mutating func next() -> Job? {
    guard jobs.isEmpty else { return jobs.removeFirst() }
    isRunning = false
    return nil
  }

  /// Notes that a change failed.
  ///
  /// A failed erasure must be made again later, unless another change was requested after it.
  mutating func didFail(_ job: Job, _ error: SQOAuthError) {
    if case .erase = job.change { failedErase = last === job.end ? error : nil }
  }
}

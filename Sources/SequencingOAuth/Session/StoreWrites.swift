import SQBasics

/// A session's requested changes to its account in the store, in order.
///
/// This value performs no input or output: ``StoredAccount`` makes the changes.
struct StoreWrites {
  /// The future result of a change; callers can wait for it.
  typealias PendingWrite = OneShot<Result<Void, SQOAuthError>>

  enum Change: Sendable {
    case save(AccountRecord)
    case erase
    /// The erasure of the account because the server refused its token.
    ///
    /// A store that can compare tokens erases the account only if it has one of the given tokens.
    case eraseRefused([SQToken])

    var erases: Bool { if case .save = self { false } else { true } }
  }

  struct Job: Sendable {
    let change: Change
    let end: PendingWrite
  }

  private var jobs: [Job] = []
  private var isRunning = false
  private(set) var last: PendingWrite?
  /// The last change, if that is an erasure.
  private(set) var lastErase: Change?
  /// The error of the last change, if that was an erasure and it failed.
  private(set) var failedErase: SQOAuthError?

  /// Whether a requested change has not been made yet.
  var isUnfinished: Bool { isRunning || !jobs.isEmpty }

  /// Whether the last requested change is an unfinished erasure, so the stored record is obsolete.
  var isErasing: Bool { lastErase != nil && failedErase == nil && isUnfinished }

  /// Appends a change to the requested changes.
  mutating func add(_ change: Change) -> PendingWrite {
    let job = Job(change: change, end: PendingWrite())
    jobs.append(job)
    last = job.end
    lastErase = change.erases ? change : nil
    failedErase = nil
    return job.end
  }

  /// Returns whether the caller must make the changes.
  ///
  /// If so, no other caller makes changes until `next()` returns `nil`.
  mutating func beginRunning() -> Bool {
    guard !isRunning, !jobs.isEmpty else { return false }
    isRunning = true
    return true
  }

  /// Removes and returns the next change; if there is none, returns `nil` and ends the run.
  mutating func next() -> Job? {
    guard jobs.isEmpty else { return jobs.removeFirst() }
    isRunning = false
    return nil
  }

  /// Records that a change failed.
  ///
  /// A failed erasure must be made again later, unless another change was requested after it.
  mutating func didFail(_ job: Job, _ error: SQOAuthError) {
    if job.change.erases { failedErase = last === job.end ? error : nil }
  }
}

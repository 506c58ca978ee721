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
    /// The erasure of an account with one of these tokens.
    ///
    /// A store that cannot compare tokens erases the account even if it has another token.
    case eraseTokens([SQToken])
    /// The repetition of a failed erasure.
    case eraseAgain(ErasureTarget)

    /// Returns what the change leaves in the store.
    ///
    /// A store that compares tokens keeps the record if another host has stored a new token.
    func rest(inComparingStore isComparing: Bool) -> Rest {
      switch self {
      case .save: .record
      case .erase: .nothing
      case .eraseTokens: isComparing ? .unknown : .nothing
      case .eraseAgain: .unknown
      }
    }
  }

  /// What a change leaves in the store if it succeeds.
  enum Rest {
    case record, nothing
    /// Nothing, or a record that the erasure was not to erase.
    case unknown
  }

  /// An erasure that failed, so that it must be made again.
  struct FailedErase: Sendable {
    let error: SQOAuthError
    /// What the repetition erases.
    let target: ErasureTarget
  }

  struct Job: Sendable {
    let change: Change
    let end: PendingWrite
  }

  private var jobs: [Job] = []
  private var isRunning = false
  private(set) var last: PendingWrite?
  /// What the last change leaves in the store.
  private var rest = Rest.record
  /// The last change, if that was an erasure and it failed.
  private(set) var failedErase: FailedErase?

  /// Whether a requested change has not been made yet.
  var isUnfinished: Bool { isRunning || !jobs.isEmpty }

  /// Whether the last requested change is an unfinished erasure of any record, so the stored record
  /// is obsolete.
  var isErasing: Bool { rest == .nothing && failedErase == nil && isUnfinished }

  /// The last requested change if that is an unfinished erasure that may leave a record.
  var unfinishedErase: PendingWrite? {
    rest == .unknown && failedErase == nil && isUnfinished ? last : nil
  }

  /// Appends a change to the requested changes.
  mutating func add(_ change: Change, inComparingStore isComparing: Bool) -> PendingWrite {
    let job = Job(change: change, end: PendingWrite())
    jobs.append(job)
    last = job.end
    rest = change.rest(inComparingStore: isComparing)
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

  /// Records that an erasure failed.
  ///
  /// It must be made again later, unless another change was requested after it.
  mutating func didFailToErase(_ job: Job, _ failure: FailedErase) {
    if last === job.end { failedErase = failure }
  }
}

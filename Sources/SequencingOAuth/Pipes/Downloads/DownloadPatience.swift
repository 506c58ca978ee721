import Basics

/// How often and how soon a download is tried again whose connection was lost.
struct DownloadPatience {
  /// An attempt that brings less than this is as good as none.
  static let worthwhile: Int64 = 64 * 1024
  /// So many such attempts in a row are enough.
  static let maximumFruitlessAttempts = 5

  private let timeout: Duration?
  private let deadline: ContinuousClock.Instant?
  /// The furthest byte that was ever reached.
  private var furthest: Int64
  private var fruitlessAttempts = 0
  private var hasReceived = false

  init(timeout: Duration?, length: Int64) {
    self.timeout = timeout
    deadline = timeout.map { ContinuousClock.now + $0.bounded }
    furthest = length
  }

  /// What is left of the time for all attempts.
  func timeLeft() throws(SQOAuthError) -> Duration? {
    guard let deadline, let timeout else { return nil }
    let left = ContinuousClock.now.duration(to: deadline)
    // The first attempt is made whatever the time, and its request then says that it is over.
    guard left > .zero || !hasReceived else {
      throw SQOAuthError(.requestTimedOut, "the download did not end within \(timeout)")
    }
    return max(left, .zero)
  }

  /// Returns when it is time for another attempt; throws the error where none makes sense.
  mutating func wait(
    after error: SQOAuthError, of attempt: DownloadAttempt, _ partial: PartialFile
  ) async throws(SQOAuthError) {
    hasReceived = hasReceived || attempt.receivedBytes > 0
    // One that had to start anew has brought only what is beyond the one before it.
    let brought =
      attempt.isContinuation ? attempt.receivedBytes : partial.length - furthest
    furthest = max(furthest, partial.length)
    fruitlessAttempts = brought >= Self.worthwhile ? 0 : fruitlessAttempts + 1
    guard isLost(error), attempt.failure == nil, hasReceived, partial.record != nil,
      fruitlessAttempts < Self.maximumFruitlessAttempts
    else { throw error }
    guard fruitlessAttempts > 0 else { return }
    do {
      try await Task.sleep(for: .milliseconds(50 << fruitlessAttempts))
    } catch {
      throw SQOAuthError(.cancelled, "the download was cancelled")
    }
  }

  /// Whether it was the network's fault and there is time to try again.
  private func isLost(_ error: SQOAuthError) -> Bool {
    switch error.code {
    case .connectionFailed: true
    // The server fell silent, or the time for all is over.
    case .requestTimedOut: deadline.map { ContinuousClock.now < $0 } ?? true
    default: false
    }
  }
}

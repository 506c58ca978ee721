import SQBasics
import SequencingOAuth

/// Decides how often and how soon a download is tried again after its connection was lost.
struct DownloadPatience {
  /// An attempt that receives fewer bytes than this counts as fruitless.
  static let worthwhile: Int64 = 64 * 1024
  /// After this number of fruitless attempts in a row, the download fails.
  static let maximumFruitlessAttempts = 5

  private let timeout: Duration?
  private let deadline: ContinuousClock.Instant?
  /// The largest length that the partial file ever had.
  private var furthest: Int64
  private var fruitlessAttempts = 0
  private var hasReceived = false

  init(timeout: Duration?, length: Int64) {
    self.timeout = timeout
    deadline = timeout.map { ContinuousClock.now + $0.bounded }
    furthest = length
  }

  /// Returns the rest of the time for all attempts, or `nil` for no limit; throws if it is over.
  func timeLeft() throws(SQOAuthError) -> Duration? {
    guard let deadline, let timeout else { return nil }
    let left = ContinuousClock.now.duration(to: deadline)
    // The first attempt is always made; if its time is over, its request fails.
    guard left > .zero || !hasReceived else {
      throw SQOAuthError(.requestTimedOut, "the download did not end within \(timeout)")
    }
    return max(left, .zero)
  }

  /// Waits until it is time for another attempt; throws the error if another attempt is useless.
  mutating func wait(
    after error: SQOAuthError, of attempt: DownloadAttempt, _ partial: PartialFile
  ) async throws(SQOAuthError) {
    hasReceived = hasReceived || attempt.receivedBytes > 0
    // If the attempt started from the first byte, only bytes beyond the largest length are new.
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

  /// Whether the connection was lost and there is time to try again.
  private func isLost(_ error: SQOAuthError) -> Bool {
    switch error.code {
    case .connectionFailed: true
    // Either the server stopped sending, or the time for all attempts is over.
    case .requestTimedOut: deadline.map { ContinuousClock.now < $0 } ?? true
    default: false
    }
  }
}

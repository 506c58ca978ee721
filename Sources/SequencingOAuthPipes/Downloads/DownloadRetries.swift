import SQBasics
import SequencingOAuth

/// The rules for retrying a download after a lost connection: how often, and after which pause.
struct DownloadRetries {
  /// The number of bytes that an attempt must receive to count as successful.
  static let worthwhile: Int64 = 64 * 1024
  /// How many unsuccessful attempts in a row make the download fail.
  static let maximumFruitlessAttempts = 5

  private let timeout: Duration?
  private let deadline: ContinuousClock.Instant?
  /// The greatest length of the partial file so far.
  private var furthest: Int64
  private var fruitlessAttempts = 0
  private var hasReceived = false

  init(timeout: Duration?, length: Int64) {
    self.timeout = timeout
    deadline = timeout.map { ContinuousClock.now + $0.bounded }
    furthest = length
  }

  /// Returns the time left for all attempts, or `nil` for no limit; throws if no time is left.
  func timeLeft() throws(SQOAuthError) -> Duration? {
    guard let deadline, let timeout else { return nil }
    let left = ContinuousClock.now.duration(to: deadline)
    // The first attempt is always made; if no time is left, its request fails.
    guard left > .zero || !hasReceived else {
      throw SQOAuthError(.requestTimedOut, "the download did not end within \(timeout)")
    }
    return max(left, .zero)
  }

  /// Waits until the next attempt may start; throws `error` if another attempt is pointless.
  mutating func wait(
    after error: SQOAuthError, of attempt: DownloadAttempt, _ partial: PartialFile
  ) async throws(SQOAuthError) {
    hasReceived = hasReceived || attempt.receivedBytes > 0
    // If the attempt started again at the first byte, only the bytes beyond the greatest length so
    // far are new.
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

  /// Returns whether the connection was lost and there is time for another attempt.
  private func isLost(_ error: SQOAuthError) -> Bool {
    switch error.code {
    case .connectionFailed: true
    // If there is time left for all attempts, the request timed out because the server was silent.
    case .requestTimedOut: deadline.map { ContinuousClock.now < $0 } ?? true
    default: false
    }
  }
}

import SQBasics
import SequencingOAuth

/// The accounts whose next record must not be lost, because the server issues its token only once.
///
/// If the keyring is locked or has ended, the store tries several times to save that record. The
/// store writes no token to a file, so a record that is not saved is lost when the process ends.
final class UnsavedRecords: Sendable {
  /// One attempt to save a record.
  struct Attempt: Sendable {
    /// Whether the keyring may ask the user to unlock it.
    let asks: Bool
    /// The time limit of the attempt; `nil` for the store's own limit.
    let limit: Duration?
  }

  /// How long to retry a failed save, including the time for the user to unlock the keyring.
  private static let retryTime = Duration.seconds(150)
  /// The shortest time limit of an attempt.
  private static let shortest = Duration.seconds(10)
  /// The pause before the keyring may ask again, after the user has refused to unlock it.
  private static let rest = Duration.seconds(20)

  private let ids = Locked(TextDictionary<Bool>())
  private let retryTime: Duration

  /// Creates an empty set; a test may choose how long a failed save is retried.
  init(retryTime: Duration? = nil) {
    self.retryTime = retryTime ?? Self.retryTime
  }

  /// Records that the next record of an account must not be lost.
  func add(_ id: String) { ids.withLock { $0[id] = true } }

  /// Ends the protection of an account's next record, because it was saved or is not expected.
  func remove(_ id: String) { ids.withLock { $0[id] = nil } }

  /// Makes one attempt to save a record, or several attempts if the record must not be lost.
  ///
  /// `whenWaiting` is called once, before the second attempt.
  func save(
    _ id: String, whenWaiting: (@Sendable () -> Void)?,
    by attempt: (Attempt) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    guard ids.withLock({ $0[id] != nil }) else {
      return try await attempt(Attempt(asks: true, limit: nil))
    }
    defer { remove(id) }
    let end = ContinuousClock.now + retryTime
    var pause = Duration.milliseconds(250)
    var asked = ContinuousClock.now
    var asks = true
    var whenWaiting = whenWaiting
    while true {
      do throws(SQOAuthError) {
        let left = end - .now
        return try await attempt(Attempt(asks: asks, limit: max(left, Self.shortest)))
      } catch {
        // Do not try again if the item is damaged or has a newer format: it stays unchanged.
        guard error.code == .storeFailed, .now + pause < end, !Task.isCancelled else { throw error }
      }
      whenWaiting?()
      whenWaiting = nil
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(5))
      if asks { asked = .now }
      asks = .now - asked >= Self.rest
    }
  }
}

import SQBasics
import SequencingOAuth

/// The accounts whose next record has a token that the server gives only once, and how such a
/// record is saved while the keyring is locked or gone.
///
/// The store writes no token to another place, so a record that is not saved is lost with the
/// process.
final class OwedRecords: Sendable {
  /// One attempt to save a record.
  struct Attempt: Sendable {
    /// Whether the keyring may ask the user.
    let asks: Bool
    /// How long the attempt may take; `nil` for the store's own limit.
    let limit: Duration?
  }

  /// The time for which a save is repeated, including the user's answers.
  private static let patience = Duration.seconds(150)
  /// The shortest limit of an attempt.
  private static let shortest = Duration.seconds(10)
  /// How long a user who has refused is not asked again.
  private static let rest = Duration.seconds(20)

  private let ids = Locked(TextDictionary<Bool>())
  private let patience: Duration

  /// Makes an empty set; a test may choose another patience.
  init(patience: Duration? = nil) {
    self.patience = patience ?? Self.patience
  }

  /// Notes that the next record of an account must not be lost.
  func add(_ id: String) { ids.withLock { $0[id] = true } }

  /// Notes that the account has no such record any more.
  func remove(_ id: String) { ids.withLock { $0[id] = nil } }

  /// Makes one attempt to save a record, or attempts until the patience ends if its token is owed.
  ///
  /// `whenWaiting` is called once before the second attempt.
  func save(
    _ id: String, whenWaiting: (@Sendable () -> Void)?,
    by attempt: (Attempt) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    guard ids.withLock({ $0[id] != nil }) else {
      return try await attempt(Attempt(asks: true, limit: nil))
    }
    defer { remove(id) }
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(250)
    var asked = ContinuousClock.now
    var asks = true
    var whenWaiting = whenWaiting
    while true {
      do throws(SQOAuthError) {
        let left = end - .now
        return try await attempt(Attempt(asks: asks, limit: max(left, Self.shortest)))
      } catch {
        // A damaged item, or one of a newer format, stays as it is.
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

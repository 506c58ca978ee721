import SQBasics
import SequencingOAuth

extension BlockingQueue {
  /// Runs work with a copy of a keyring whose calls end when the caller is cancelled.
  func run<Value: Sendable>(
    _ keyring: Keyring, _ work: @escaping @Sendable (Keyring) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await run(
      ifCancelled: KeyringFailure.cancelled.error
    ) { interruption throws(SQOAuthError) in
      try work(keyring.ended(by: interruption))
    }
  }
}

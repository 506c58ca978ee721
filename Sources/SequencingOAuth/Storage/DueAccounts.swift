import SQBasics

/// The accounts that a keeper took from a queue.
package struct DueAccounts: Sendable {
  package struct Account: Sendable {
    package let id: String
    package let record: Result<AccountRecord, SQOAuthError>
    /// The version of the stored record, for queues that count versions.
    package let version: Int64
    /// Whether the server was paused before.
    package let wasPaused: Bool

    package init(
      id: String, record: Result<AccountRecord, SQOAuthError>, version: Int64 = 0, wasPaused: Bool
    ) {
      self.id = id
      self.record = record
      self.version = version
      self.wasPaused = wasPaused
    }
  }

  package var accounts: [Account]
  /// The time until the next account is due, if none is now; `nil` if that is not known.
  package var next: Duration?

  package init(_ accounts: [Account], next: Duration? = nil) {
    self.accounts = accounts
    self.next = next
  }
}

import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The leases that this process has, with what their holders know of the accounts.
final class HeldLeases: Sendable {
  /// An account's row, as the holder of a lease last loaded or saved it.
  struct Row: Sendable {
    let version: Int64
    let record: AccountRecord
  }

  struct Lease: Sendable {
    let ticket: Data
    /// The row that was last loaded or saved; `nil` if there was none, or if that is not known.
    var known: Row?
    /// The row from which a refresh token was sent; no load changes it.
    ///
    /// Any part of the process may load the account. If that moved the version which the new token
    /// replaces, the token would overwrite what another host has saved.
    var reserved: Row?

    /// The row that a record replaces; `nil` for a new sign-in, which replaces whatever there is.
    func row(before record: AccountRecord) -> Row? {
      [reserved, known].lazy.compactMap { $0 }.first { $0.record.session == record.session }
    }
  }

  private let leases = Locked<[String: Lease]>([:])

  /// The lease of an account; `nil` if this process does not have it.
  func lease(_ id: String) -> Lease? { leases.withLock { $0[id] } }

  /// Begins to take a lease; returns `false` if a caller in this process has it.
  func begin(_ id: String, _ lease: Lease) -> Bool {
    leases.withLock { leases in
      guard leases[id] == nil else { return false }
      leases[id] = lease
      return true
    }
  }

  /// Notes the row that was loaded; `nil` if there was none.
  func loaded(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { $0.known = row }
  }

  /// Notes the row from which a refresh token is sent.
  func reserved(_ id: String, _ ticket: Data, _ row: Row) {
    change(id, ticket) { $0.reserved = row }
  }

  /// Notes the row that was saved; `nil` after an erasure.
  func saved(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { lease in
      lease.known = row
      lease.reserved = row
    }
  }

  /// Forgets a lease.
  func end(_ id: String, _ ticket: Data) {
    leases.withLock { if $0[id]?.ticket == ticket { $0[id] = nil } }
  }

  /// Changes what is known under a lease, if this process still has it.
  private func change(_ id: String, _ ticket: Data, _ body: (inout Lease) -> Void) {
    leases.withLock { leases in
      guard var lease = leases[id], lease.ticket == ticket else { return }
      body(&lease)
      leases[id] = lease
    }
  }
}

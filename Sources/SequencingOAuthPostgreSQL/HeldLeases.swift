import SQBasics
import SQFoundation
import SequencingOAuth

/// The leases that this process holds, with their accounts' known rows.
///
/// If a new token could not be saved, the account's lease stays in the database even after the
/// holder has released it. Otherwise another host would send a refresh token that the server has
/// already replaced. The next holder in this process takes the lease again by its random ID
/// (`ticket`). If no session tries to save the token any more, this process no longer extends the
/// lease, and it expires.
final class HeldLeases: Sendable {
  /// An account's row at the last load or save by a lease's holder.
  struct Row: Sendable {
    let version: Int64
    let record: AccountRecord
  }

  struct Lease: Sendable {
    let ticket: Data
    var isInUse = true
    /// The time until which the lease protects an unsaved token; `nil` without an unsaved token.
    var unsavedUntil: ContinuousClock.Instant?
    /// The row that was last loaded or saved; `nil` if there was no row or if it is not known.
    var known: Row?
    /// The row of each sign-in that was last loaded or saved, by the sign-in's identifier.
    ///
    /// A row stays here after the account was erased or signed in again. Otherwise a refresh that
    /// ends after that would no longer know which row its new token must replace, and would undo
    /// the sign-out or the new sign-in.
    fileprivate var rows: [ExactText?: Row] = [:]
    /// The row that the sent refresh token came from; a load does not change this property.
    ///
    /// Any part of the process may load the account. If loading changed this row, the new token
    /// could overwrite a record that another host has saved.
    var reserved: Row?

    /// Whether a new token has arrived and is not saved yet.
    var isUnsaved: Bool { unsavedUntil.map { .now < $0 } ?? false }

    /// Whether the lease must be extended, because its holder uses it or a new token is unsaved.
    var isKept: Bool { isInUse || isUnsaved }

    /// Returns the row that a record replaces; `nil` for a new sign-in, because it replaces any
    /// row.
    func row(before record: AccountRecord) -> Row? {
      if let reserved, reserved.record.session == record.session { return reserved }
      return rows[Self.signIn(record)]
    }

    /// Returns whether the record is still saved, as far as this process knows.
    func hasSaved(_ record: AccountRecord, as row: Row) -> Bool {
      row.record == record && known?.version == row.version
    }

    fileprivate mutating func know(_ row: Row?) {
      known = row
      if let row { rows[Self.signIn(row.record)] = row }
    }

    private static func signIn(_ record: AccountRecord) -> ExactText? {
      record.session.map(ExactText.init)
    }
  }

  private let leases = Locked(TextDictionary<Lease>())

  /// Returns the lease of an account; `nil` if this process does not have it.
  func lease(_ id: String) -> Lease? {
    leases.withLock { leases in
      guard let lease = leases[id], lease.isInUse || lease.isUnsaved else { return nil }
      return lease
    }
  }

  /// Returns the ID of a lease to take; `nil` if another caller in this process has the lease.
  func begin(_ id: String) -> Data? {
    leases.withLock { leases in
      if let old = leases[id], old.isInUse { return nil }
      let kept = leases[id] ?? Lease(ticket: Data(UUID().uuidString.utf8))
      var lease = kept.isUnsaved ? kept : Lease(ticket: kept.ticket)
      lease.isInUse = true
      leases[id] = lease
      return lease.ticket
    }
  }

  /// Records the row that was loaded; `nil` if there was none.
  func loaded(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { lease in
      lease.know(row)
      // Another host has saved a newer row, so the new token can no longer be saved.
      if let reserved = lease.reserved, (row?.version ?? .max) > reserved.version {
        lease.unsavedUntil = nil
      }
    }
  }

  /// Records the row that a refresh token comes from, before the token is sent.
  func reserved(_ id: String, _ ticket: Data, _ row: Row) {
    change(id, ticket) { $0.reserved = row }
  }

  /// Returns whether a lease must be extended.
  func isKept(_ id: String, _ ticket: Data) -> Bool {
    leases.withLock { leases in
      guard let lease = leases[id], lease.ticket == ticket else { return false }
      return lease.isKept
    }
  }

  /// Records the row that was saved; `nil` after an erasure.
  func saved(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { lease in
      lease.know(row)
      lease.reserved = row
      lease.unsavedUntil = nil
    }
  }

  /// Records that a new token has arrived and is not saved yet.
  func received(_ id: String, _ ticket: Data, at now: ContinuousClock.Instant = .now) {
    change(id, ticket) { $0.unsavedUntil = now + .seconds(LeaseStatements.sentSeconds) }
  }

  /// Records that another host has changed the account, so that a new token cannot be saved.
  func lost(_ id: String, _ ticket: Data) {
    change(id, ticket) { $0.unsavedUntil = nil }
  }

  /// Ends the use of a lease; returns `false` if it must stay in the database.
  func release(_ id: String, _ ticket: Data) -> Bool {
    leases.withLock { leases in
      // Without an unsaved token, the lease stays in use until it is removed from the database.
      guard let lease = leases[id], lease.ticket == ticket, lease.isUnsaved else { return true }
      leases[id]?.isInUse = false
      return false
    }
  }

  /// Removes a lease, unless it protects an unsaved token.
  ///
  /// If the lease may still be in the database, its ID is kept, so that this process can take the
  /// lease again.
  func end(_ id: String, _ ticket: Data, isGone: Bool = true) {
    leases.withLock { leases in
      guard let lease = leases[id], lease.ticket == ticket else { return }
      if lease.isUnsaved {
        leases[id]?.isInUse = false
      } else if isGone {
        leases[id] = nil
      } else {
        leases[id] = Lease(ticket: ticket, isInUse: false)
      }
    }
  }

  /// Changes a lease, if this process still has it.
  private func change(_ id: String, _ ticket: Data, _ body: (inout Lease) -> Void) {
    leases.withLock { leases in
      guard var lease = leases[id], lease.ticket == ticket else { return }
      body(&lease)
      leases[id] = lease
    }
  }
}

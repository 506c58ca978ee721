import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The leases that this process has, with what their holders know of the accounts.
///
/// A lease under which a token could not be saved stays, also after its release: another host would
/// send the refresh token that the server has replaced already. The next holder in this process
/// takes it again by its ticket. If no session tries to save the token any more, the lease ends
/// after the time of a marked lease.
final class HeldLeases: Sendable {
  /// An account's row, as the holder of a lease last loaded or saved it.
  struct Row: Sendable {
    let version: Int64
    let record: AccountRecord
  }

  struct Lease: Sendable {
    let ticket: Data
    var isInUse = true
    /// Until when the lease protects a new token that is not saved; `nil` if there is none.
    var unsavedUntil: ContinuousClock.Instant?
    /// Until when a refresh token that was sent may bring a new one; `nil` if none was sent.
    var markedUntil: ContinuousClock.Instant?
    /// The row that was last loaded or saved; `nil` if there was none, or if that is not known.
    var known: Row?
    /// The row from which a refresh token was sent; no load changes it.
    ///
    /// Any part of the process may load the account. If that moved the version which the new token
    /// replaces, the token would overwrite what another host has saved.
    var reserved: Row?

    /// Whether a new token has come that is not saved yet.
    var isUnsaved: Bool { unsavedUntil.map { .now < $0 } ?? false }

    /// Whether a refresh token was sent whose successor is not saved yet.
    var isMarked: Bool { isUnsaved || isInUse && markedUntil.map { .now < $0 } ?? false }

    /// The row that a record replaces; `nil` for a new sign-in, which replaces whatever there is.
    func row(before record: AccountRecord) -> Row? {
      [reserved, known].lazy.compactMap { $0 }.first { $0.record.session == record.session }
    }
  }

  private let leases = Locked(TextDictionary<Lease>())

  /// The lease of an account; `nil` if this process does not have it.
  func lease(_ id: String) -> Lease? {
    leases.withLock { leases in
      guard let lease = leases[id], lease.isInUse || lease.isUnsaved else { return nil }
      return lease
    }
  }

  /// Begins to take a lease, and returns its ticket; `nil` if a caller in this process has it.
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

  /// Notes the row that was loaded; `nil` if there was none.
  func loaded(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { lease in
      lease.known = row
      // Then the new token comes too late, and needs no protection any more.
      if let reserved = lease.reserved, (row?.version ?? .max) > reserved.version {
        lease.unsavedUntil = nil
      }
    }
  }

  /// Notes the row from which a refresh token is sent.
  func reserved(
    _ id: String, _ ticket: Data, _ row: Row, at now: ContinuousClock.Instant = .now
  ) {
    change(id, ticket) { lease in
      lease.reserved = row
      lease.markedUntil = now + .seconds(AccountStatements.sentSeconds)
    }
  }

  /// Whether a lease must be kept, because a new token is on its way or unsaved.
  func isMarked(_ id: String, _ ticket: Data) -> Bool {
    leases.withLock { leases in
      guard let lease = leases[id], lease.ticket == ticket else { return false }
      return lease.isMarked
    }
  }

  /// Notes the row that was saved; `nil` after an erasure.
  func saved(_ id: String, _ ticket: Data, _ row: Row?) {
    change(id, ticket) { lease in
      lease.known = row
      lease.reserved = row
      lease.unsavedUntil = nil
      lease.markedUntil = nil
    }
  }

  /// Notes that a new token has come and is not saved yet.
  func received(_ id: String, _ ticket: Data, at now: ContinuousClock.Instant = .now) {
    change(id, ticket) { $0.unsavedUntil = now + .seconds(AccountStatements.sentSeconds) }
  }

  /// Notes that the account was changed by another host, so a new token cannot be saved.
  func lost(_ id: String, _ ticket: Data) {
    change(id, ticket) { ($0.unsavedUntil, $0.markedUntil) = (nil, nil) }
  }

  /// Ends the use of a lease; returns `false` if the lease must stay in the database.
  func release(_ id: String, _ ticket: Data) -> Bool {
    leases.withLock { leases in
      // A lease that ends stays in use until it has ended in the database.
      guard let lease = leases[id], lease.ticket == ticket, lease.isUnsaved else { return true }
      leases[id]?.isInUse = false
      return false
    }
  }

  /// Forgets a lease, unless a token is unsaved under it.
  ///
  /// If it may still be in the database, its ticket is kept, so that it does not keep this process
  /// out.
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

  /// Changes what is known under a lease, if this process still has it.
  private func change(_ id: String, _ ticket: Data, _ body: (inout Lease) -> Void) {
    leases.withLock { leases in
      guard var lease = leases[id], lease.ticket == ticket else { return }
      body(&lease)
      leases[id] = lease
    }
  }
}

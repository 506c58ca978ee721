import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The leases that this process has, with what their holders know of the accounts.
final class HeldLeases: Sendable {
  /// What the holder of a lease last loaded or saved.
  struct Known: Sendable {
    /// The version of the row; `nil` if there was none.
    var version: Int64?
    var record: AccountRecord?
  }

  struct Lease: Sendable {
    let ticket: Data
    /// `nil` until the holder has loaded or saved the account.
    var known: Known?
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

  /// Notes what the holder knows of the account, if it still has this lease.
  func know(_ id: String, _ ticket: Data, _ known: Known) {
    leases.withLock { if $0[id]?.ticket == ticket { $0[id]?.known = known } }
  }

  /// Forgets a lease.
  func end(_ id: String, _ ticket: Data) {
    leases.withLock { if $0[id]?.ticket == ticket { $0[id] = nil } }
  }
}

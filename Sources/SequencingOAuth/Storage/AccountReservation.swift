/// Space that a store has reserved for the next record of an account.
///
/// A session gets a reservation before it sends a refresh token that the server accepts only once.
/// When the answer arrives, the session first calls ``land(_:)``, which makes the new record safe
/// at once, and then ``TokenStore/save(_:)``, which may have to wait for other processes.
public struct AccountReservation: Sendable {
  private let keep: @Sendable (AccountRecord) async -> Void
  private let end: @Sendable () -> Void

  /// Makes a reservation from a closure that keeps a record and a closure that frees the space.
  ///
  /// `land` writes the new record into the reserved space. It is called at most once, and should
  /// write the record before it first suspends, since the process may be killed at any moment. It
  /// reports no error, because `save` follows it. `release` is called once, after the save, or when
  /// there is nothing to save. If `save` could not store the record, `release` must not remove what
  /// `land` has written.
  public init(
    land: @escaping @Sendable (AccountRecord) async -> Void = { _ in },
    release: @escaping @Sendable () -> Void = {}
  ) {
    keep = land
    end = release
  }

  /// Writes the record at once, into the reserved space.
  public func land(_ record: AccountRecord) async {
    await keep(record)
  }

  /// Frees the reserved space.
  public func release() {
    end()
  }
}

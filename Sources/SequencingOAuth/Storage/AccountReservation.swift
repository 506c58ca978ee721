import SQBasics

/// Space that a store has reserved for the next record of an account.
///
/// A session gets a reservation before it sends a refresh token that the server accepts only once.
/// When the response arrives, the session first calls ``writeAhead(_:)`` to write a copy of the new
/// record at once. Then it calls ``TokenStore/save(_:)``; that call may have to wait for other
/// processes.
public struct AccountReservation: Sendable {
  private let keep: @Sendable (AccountRecord) async -> Void
  private let end: @Sendable () -> Void
  private let isWritten = OneShot<Void>()
  private let isReleased = OneShot<Void>()

  /// Creates a reservation from two closures: one writes a copy of a record, one frees the space.
  ///
  /// `writeAhead` writes the copy into the reserved space. It is called at most once, and should
  /// write the record before it first suspends, because the process may be killed at any moment. It
  /// reports no error, because `save` follows it. `release` is called once, after the save, or when
  /// there is nothing to save. If `save` failed to store the record, `release` must not remove the
  /// copy.
  public init(
    writeAhead: @escaping @Sendable (AccountRecord) async -> Void = { _ in },
    release: @escaping @Sendable () -> Void = {}
  ) {
    keep = writeAhead
    end = release
  }

  /// Writes a copy of the record into the reserved space immediately, before it is saved.
  ///
  /// A second call does nothing.
  public func writeAhead(_ record: AccountRecord) async {
    if isWritten.resolve(()) { await keep(record) }
  }

  /// Frees the reserved space; a second call does nothing.
  public func release() {
    if isReleased.resolve(()) { end() }
  }
}

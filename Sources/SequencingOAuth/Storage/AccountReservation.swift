/// Room for the next record of an account, which a store has made sure of.
///
/// A session gets it before it spends a refresh token that the server accepts only once. With it,
/// the answer is safe as soon as it is here: ``land(_:)`` comes before ``TokenStore/save(_:)``,
/// which may have to wait for other processes.
public struct AccountReservation: Sendable {
  private let keep: @Sendable (AccountRecord) async -> Void
  private let end: @Sendable () -> Void

  /// A reservation that keeps a record by one closure and gives its room back by another.
  ///
  /// `land` is called once at most, and should write the record down before it first suspends: a
  /// process may be killed at any moment. It reports no error, since `save` follows it. `release`
  /// is called once, after the save or when there is nothing to save; it must not remove a record
  /// that landed and that `save` could not put in its place.
  public init(
    land: @escaping @Sendable (AccountRecord) async -> Void = { _ in },
    release: @escaping @Sendable () -> Void = {}
  ) {
    keep = land
    end = release
  }

  /// Writes the record down at once, in the room that was reserved.
  public func land(_ record: AccountRecord) async {
    await keep(record)
  }

  /// Gives the room back.
  public func release() {
    end()
  }
}

/// What a session last wrote to the store or read from it.
///
/// By this value, the session distinguishes other processes' changes of the account from its own.
struct SeenRecord {
  /// The token of the last record; `nil` if the session has seen that the store has no record, or
  /// has not seen any.
  private(set) var token: SQToken?
  /// The sign-in's identifier in the last record; `nil` if it has none.
  private var session: String?
  /// The sign-in's identifier in the last record that the session asked the store to save.
  private var savedSession: String?

  mutating func saw(_ record: AccountRecord) {
    (token, session) = (record.token, record.session)
  }

  mutating func sawNothing() {
    token = nil
  }

  mutating func willSave(_ record: AccountRecord) {
    savedSession = record.session
  }

  /// The identifiers of the sign-ins whose record may be, or have been, in the store.
  ///
  /// A save that reported a failure may have changed the store nevertheless.
  var sessions: [String] { [session, savedSession].compactMap(\.self) }

  /// Returns whether the last record is of the same sign-in as another record.
  func isOfSession(of record: AccountRecord) -> Bool {
    token != nil && record.session != nil && session == record.session
  }

  /// Returns whether a record is of another sign-in than the last record.
  func isNewSession(of record: AccountRecord) -> Bool {
    record.session != nil && record.session != session
  }

  /// Returns whether a record in the store replaces the record that the session has in memory.
  ///
  /// The stored record wins if it is not the record that this session last saw in the store,
  /// because another process must have written it. If the session has not seen a record there, the
  /// younger record wins; otherwise dates do not count, because they are wrong after a change of
  /// the clock. An earlier record of the same sign-in never replaces the one in memory, because the
  /// store must have lost newer data.
  func prefers(_ stored: AccountRecord, to held: AccountRecord) -> Bool {
    if stored.token.isSame(as: held.token) || stored.isAncestor(of: held) { return false }
    guard let token else { return stored.token.isYounger(than: held.token) }
    return !stored.token.isSame(as: token)
  }
}

import SQBasics

/// The app's values that are stored with an account, and whether the store's record has them.
///
/// They may contain secrets of the app.
package struct AccountAttributes: Sendable, Redacted {
  private(set) var values: [String: String] = [:]
  /// Whether the app has set values since the last record was sent to the store.
  private var areNew = false
  /// The number of records that got new values.
  private var saves = 0

  /// The values that the app has set since the last record was sent to the store; `nil` if it has
  /// set none.
  var new: [String: String]? { areNew ? values : nil }

  /// Sets the app's values.
  mutating func set(_ values: [String: String]) {
    self.values = values
    areNew = true
  }

  /// Stops treating the values as new if a record has them; call this before each save.
  mutating func willSave(_ record: AccountRecord) {
    guard areNew, values == record.attributes else { return }
    areNew = false
    saves += 1
  }

  /// Copies the values from a stored record, unless the app has already set values.
  mutating func resume(of record: AccountRecord) {
    if values.isEmpty, !areNew { values = record.attributes }
  }

  /// Undoes the changes since `earlier`, for example those of a failed sign-in.
  ///
  /// Values that were not new do not become new, because the next save would then replace values
  /// that another process has stored meanwhile.
  mutating func restore(_ earlier: AccountAttributes) {
    // A record with the changed values needs the earlier ones again.
    let wereSaved = saves != earlier.saves && values != earlier.values
    guard areNew || wereSaved else { return }
    values = earlier.values
    areNew = earlier.areNew || wereSaved
  }
}

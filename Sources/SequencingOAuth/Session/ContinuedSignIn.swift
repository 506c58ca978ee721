/// A sign-in, and the series that it continues.
struct ContinuedSignIn: Sendable {
  /// The identifier of the sign-in, ``AccountRecord/session``.
  let name: String
  let series: SignInSeries

  /// Creates the sign-in of a new record that a request of `owner` needed; `nil` if nobody was
  /// signed in to begin a series.
  init?(_ record: AccountRecord, of owner: RequestOwner?) {
    guard let name = record.session, let series = owner?.series else { return nil }
    self.name = name
    self.series = series
  }
}

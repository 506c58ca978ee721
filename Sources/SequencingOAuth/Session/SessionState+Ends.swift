import SQFoundation

// The report that a sign-in ends soon, if the server has named its end.
extension SessionState {
  /// Returns the date on which the sign-in ends, and the date on which to report it.
  ///
  /// The report is due `notice` before the end, but not before nine tenths of the lifetime have
  /// passed: otherwise, a refresh token that lasts half an hour would always be about to end.
  ///
  /// - Returns: `nil` if `notice` is zero, if the server has named no end, if that end was already
  ///   reported, or if the client can repeat the grant without a user.
  func untoldEnd(notice: Duration) -> (date: Date, due: Date)? {
    guard notice > .zero, let record, record.grant == nil, let end = record.token.firstEnd
    else { return nil }
    if let toldEnd, end.date.timeIntervalSince(toldEnd) <= GrantEnd.tolerance { return nil }
    let lead = min(notice / .seconds(1), max(0, end.lifetime) / 10)
    return (end.date, end.date.addingTimeInterval(-lead))
  }

  /// Reports that the sign-in ends soon, if the report is due and the end has not passed.
  ///
  /// The system's date may be wrong when the end seems to have passed. So the next renewal looks
  /// again, and until then the timer has nothing to do.
  mutating func tellEnd(at now: Date, notice: Duration) {
    guard let end = untoldEnd(notice: notice), end.due <= now else { return }
    guard now < end.date else {
      passedEnd = end.date
      return
    }
    toldEnd = end.date
    report(.endsSoon(end.date))
  }
}

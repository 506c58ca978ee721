import SQFoundation

// The end of a sign-in that the server has named.
extension SessionState {
  /// Returns the end of the sign-in that the observers do not know yet, and when to report it;
  /// `nil` if there is none.
  ///
  /// That is `notice` before the end, but not before nine tenths of its lifetime are over: a
  /// refresh token that lasts for half an hour would otherwise always be about to end. A grant that
  /// the client can repeat needs no user, so it has no such end. An end is reported once, however
  /// often responses name it.
  func untoldEnd(notice: Duration) -> (date: Date, due: Date)? {
    guard notice > .zero, let record, record.grant == nil, let end = record.token.firstEnd
    else { return nil }
    if let toldEnd, end.date.timeIntervalSince(toldEnd) <= GrantEnd.tolerance { return nil }
    let lead = min(notice / .seconds(1), max(0, end.lifetime) / 10)
    return (end.date, end.date.addingTimeInterval(-lead))
  }

  /// Tells the observers of the end of the sign-in if it is time, and only before that end.
  mutating func tellEnd(at now: Date, notice: Duration) {
    guard let end = untoldEnd(notice: notice), end.due <= now else { return }
    toldEnd = end.date
    if now < end.date { report(.endsSoon(end.date)) }
  }
}

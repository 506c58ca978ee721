/// The value of `grpc-timeout`: at most eight digits and a unit.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Timeout"
enum TimeoutField {
  private static let largest: Int64 = 99_999_999

  /// Returns a duration in the finest unit that fits into eight digits; `nil` if not positive.
  ///
  /// Minutes are not used: a time that does not fit in seconds is sent in hours.
  ///
  /// The duration is rounded up to three significant digits. Rounding up prevents the server from
  /// giving up before the caller. With few digits, many calls have the same text, and HPACK sends a
  /// repeated text as an index.
  static func text(_ duration: Duration) -> String? {
    let (seconds, attoseconds) = duration.components
    guard duration > .zero else { return nil }
    for (unit, perSecond) in [("n", 1_000_000_000), ("u", 1_000_000), ("m", 1_000), ("S", 1)] {
      let perSecond = Int64(perSecond)
      let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: perSecond)
      if isTooLarge { continue }
      let attosecondsEach = 1_000_000_000_000_000_000 / perSecond
      let part = (attoseconds + attosecondsEach - 1) / attosecondsEach
      guard whole <= largest else { continue }
      let value = roundedUp(whole + part)
      if value <= largest { return "\(value)\(unit)" }
    }
    return "\(min(roundedUp(seconds / 3600 + 1), largest))H"
  }

  private static func roundedUp(_ value: Int64) -> Int64 {
    var step: Int64 = 1
    while value / step >= 1000 { step *= 10 }
    return (value + step - 1) / step * step
  }
}

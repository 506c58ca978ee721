import SQBasics
package import SQFoundation

/// A comparison of the dates in claims with the current time.
///
/// - SeeAlso: RFC 7519, sections 4.1.4 to 4.1.6
package struct ClaimClock: Sendable {
  let now: Date
  /// The allowed difference between the clocks, in both directions.
  let tolerance: Duration

  package init(now: Date, tolerance: Duration) {
    self.now = now
    self.tolerance = tolerance
  }

  /// Returns whether the end of a validity (`exp`) is reached.
  package func hasEnded(_ end: Date) -> Bool {
    now >= end.addingTimeInterval(tolerance.seconds)
  }

  /// Returns whether an event (`iat`), or the start of a validity (`nbf`), is in the future.
  package func isAhead(_ start: Date) -> Bool {
    start > now.addingTimeInterval(tolerance.seconds)
  }

  /// Returns the end of a message: a comparison of this machine's clock with the server's.
  static func advice(_ clockLead: Duration?) -> String {
    guard let clockLead else { return "; compare this machine's clock with the server's" }
    let seconds = clockLead.components.seconds
    guard seconds != 0 else { return ", although this machine's clock agrees with the server's" }
    return " by this machine's clock, which is \(abs(seconds)) s "
      + "\(seconds > 0 ? "ahead of" : "behind") the server's; correct the clock"
  }
}

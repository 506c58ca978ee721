import SQBasics
package import SQFoundation

/// A moment in both times of a clock: its date, which may be changed, and its steady time.
package struct ClockMoment: Sendable {
  package let date: Date
  package let steady: Duration

  /// Reads a clock; the clock may be the app's, so no lock may be held.
  package init(_ clock: any WallClock) {
    (date, steady) = (clock.now, clock.steadyTime)
  }

  /// The date minus the steady time, in seconds: it changes only when the date is set.
  var lead: Double { date.timeIntervalSinceReferenceDate - steady / .seconds(1) }

  /// Returns the steady time at which the clock will show a date if the date is not changed.
  package func steadyTime(at date: Date) -> Duration {
    steady + .bounded(seconds: date.timeIntervalSince(self.date))
  }

  /// Returns the date that the clock will show at a steady time if the date is not changed.
  package func date(at time: Duration) -> Date {
    date.addingTimeInterval((time - steady).seconds)
  }
}

// The standard library traps when a duration has more seconds than an `Int64` holds, or when the
// sum of a moment and a duration overflows. Apps choose durations, so the SDK limits them here
// first.
extension Duration {
  /// A hundred years: longer than any program waits.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  /// The duration, limited to between zero and a hundred years.
  ///
  /// Adding it to an instant or sleeping for it cannot overflow.
  package var bounded: Duration { min(max(self, .zero), Self.longest) }

  /// Returns a duration of a number of seconds, limited to between zero and a hundred years.
  ///
  /// A value that is not a number gives zero. The conversion of the standard library would trap.
  package static func bounded(seconds: Double) -> Duration {
    seconds > 0 ? .seconds(min(seconds, longest.seconds)) : .zero
  }

  /// The number of whole nanoseconds in the ``bounded`` duration.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = bounded.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// The ``bounded`` duration in seconds, for use with dates: from 0 to a hundred years.
  package var seconds: Double { bounded.signedSeconds }

  /// The duration, limited to a hundred years in either direction.
  package var signedBounded: Duration { min(max(self, .zero - Self.longest), Self.longest) }

  /// The ``signedBounded`` duration in seconds.
  package var signedSeconds: Double {
    let (seconds, attoseconds) = signedBounded.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

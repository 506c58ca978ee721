// The standard library traps when a duration has more seconds than an `Int64` holds, or when the
// sum of a moment and a duration overflows. Apps choose durations, so the SDK limits them here
// first.
extension Duration {
  /// A hundred years: longer than any program waits.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  /// The duration, limited to between zero and a hundred years.
  ///
  /// It is safe to add to a moment and to sleep for.
  package var bounded: Duration { min(max(self, .zero), Self.longest) }

  /// The number of whole nanoseconds in the ``bounded`` duration.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = bounded.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// The ``bounded`` duration in seconds, as dates count them: at least 0, at most a hundred years.
  package var seconds: Double {
    let (seconds, attoseconds) = bounded.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

// The standard library traps where a duration has more seconds than an `Int64` holds, or where the
// sum of a moment and a duration cannot be written. Apps choose durations, so they come through here.
extension Duration {
  /// A hundred years, which no program waits for.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  /// The duration between nothing and a hundred years that is nearest to this one.
  ///
  /// A moment may be moved by it, and a task may sleep for it.
  package var bounded: Duration { min(max(self, .zero), Self.longest) }

  /// The whole nanoseconds of the ``bounded`` duration.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = bounded.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// The duration in seconds, for dates; 0 for a negative one, and a hundred years at most.
  package var seconds: Double {
    let (seconds, attoseconds) = bounded.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

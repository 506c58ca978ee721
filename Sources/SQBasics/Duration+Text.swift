extension Duration {
  /// The duration for a person, rounded: `60.0 seconds`.
  ///
  /// Requests share a limit, and what is left of it after some microseconds would have nine decimals.
  package var text: String {
    let step: Duration =
      self < .seconds(1)
      ? .milliseconds(1) : self < .seconds(10) ? .milliseconds(10) : .milliseconds(100)
    return "\(step * Int((bounded / step).rounded()))"
  }
}

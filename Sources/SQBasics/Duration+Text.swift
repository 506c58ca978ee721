extension Duration {
  /// The duration as rounded text for a message, such as `60.0 seconds`.
  ///
  /// Without rounding, a duration such as the time left before a deadline would have many decimals.
  package var text: String {
    let step: Duration =
      self < .seconds(1)
      ? .milliseconds(1) : self < .seconds(10) ? .milliseconds(10) : .milliseconds(100)
    return "\(step * Int((bounded / step).rounded()))"
  }
}

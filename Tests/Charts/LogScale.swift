import SQLibC

/// A logarithmic axis, with its range and its labelled ticks.
package struct LogScale: Sendable {
  package let first: Double
  package let last: Double
  package let ticks: [Double]

  /// Creates the shortest scale between two ticks that has space for all values.
  ///
  /// The ticks are powers of ten. If the values span less than a factor of 100, the ticks at 2 and
  /// 5 times these powers are added. The scale's end is at least `factor` times its start, so that
  /// noise does not look like growth. The factor is at most 10.
  package init(_ values: [Double], atLeast factor: Double = 1) {
    let least = values.min() ?? 1
    let most = values.max() ?? 10
    let powers = Int(log10(least).rounded(.down)) - 1...Int(log10(most).rounded(.up)) + 1
    let coarse = powers.map { pow(10, Double($0)) }
    let fine = coarse.flatMap { [$0, 2 * $0, 5 * $0] }
    let isShort = most / least < 100
    // A power of ten is not exact in floating point, so a value on a tick needs a margin.
    let margin = 1 + 1e-9
    let (first, last) = Self.ends(least, most, isShort ? fine : coarse, margin)
    (self.first, self.last) =
      last / first * margin < factor ? Self.ends(least, most, coarse, margin) : (first, last)
    let (start, end) = (self.first / margin, self.last * margin)
    ticks = (isShort ? fine : coarse).filter { $0 >= start && $0 <= end }
  }

  private static func ends(
    _ least: Double, _ most: Double, _ ticks: [Double], _ margin: Double
  ) -> (Double, Double) {
    let first = ticks.last { $0 <= least * margin } ?? least
    // The last tick is beyond the first one, so that a single value has a scale.
    return (first, ticks.first { $0 * margin >= most && $0 > first * margin } ?? most * 10)
  }

  /// Returns a value's place: 0 at the scale's start, and 1 at its end.
  package func position(_ value: Double) -> Double {
    log(value / first) / log(last / first)
  }
}

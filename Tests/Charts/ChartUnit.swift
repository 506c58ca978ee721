import SQLibC

/// The unit of an axis, and the way to write the axis's values.
package enum ChartUnit: Sendable {
  case count
  case perSecond
  case seconds
  case bytes

  /// Returns the value with two significant digits and a unit that fits its size: `3.6 s`.
  package func text(_ value: Double) -> String {
    switch self {
    case .count: Self.number(value)
    case .perSecond: Self.number(value) + "/s"
    case .seconds: Self.text(value, [(1e-6, "µs"), (1e-3, "ms"), (1, "s")])
    case .bytes: Self.text(value, [(1e3, "kB"), (1e6, "MB"), (1e9, "GB")])
    }
  }

  /// Returns the value in the largest unit in which it is at least 1.
  ///
  /// The units must be in ascending order.
  private static func text(_ value: Double, _ units: [(size: Double, name: String)]) -> String {
    let value = rounded(value)
    // A tick such as 1e-6 may be a little less than its unit.
    let unit = units.last { value / $0.size > 0.999 } ?? units[0]
    return "\(number(value / unit.size)) \(unit.name)"
  }

  private static func rounded(_ value: Double) -> Double {
    let last = pow(10, (log10(value) + 1e-9).rounded(.down) - 1)
    return (value / last).rounded() * last
  }

  private static func number(_ value: Double) -> String {
    let tenths = Int((rounded(value) * 10).rounded())
    if tenths < 100, !tenths.isMultiple(of: 10) { return "\(tenths / 10).\(tenths % 10)" }
    var digits = String((tenths + 5) / 10)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }
}

import Charts
import Testing

/// The text of a chart's values.
struct ChartUnitTests {
  @Test(arguments: [
    (3.57, ChartUnit.seconds, "3.6 s"), (0.7812, .seconds, "780 ms"), (0.0404, .seconds, "40 ms"),
    (99.7e-6, .seconds, "100 µs"), (0.9996e-3, .seconds, "1 ms"), (1e-6, .seconds, "1 µs"),
    (61_499, .perSecond, "61,000/s"), (1_000_000, .count, "1,000,000"), (7, .count, "7"),
    (2.55e9, .bytes, "2.6 GB"), (25_400_000, .bytes, "25 MB"),
  ])
  func `a value is rounded to two significant digits and has a unit that fits its size`(
    value: Double, unit: ChartUnit, text: String
  ) {
    #expect(unit.text(value) == text)
  }
}

import Charts
import Testing

/// The range and the ticks of a chart's axis.
struct LogScaleTests {
  @Test func `a long scale begins and ends at powers of ten`() {
    let scale = LogScale([14e-6, 3.6])
    #expect(texts(scale, .seconds).first == "10 µs")
    #expect(texts(scale, .seconds).last == "10 s")
    #expect(scale.ticks.count == 7)
    #expect(abs(scale.position(1e-5)) < 1e-9)
    #expect(abs(scale.position(10) - 1) < 1e-9)
    #expect(abs(scale.position(1e-2) - 0.5) < 1e-9)
  }

  @Test func `a short scale has ticks between the powers of ten`() {
    #expect(
      texts(LogScale([12_000, 76_000]), .perSecond) == [
        "10,000/s", "20,000/s", "50,000/s", "100,000/s",
      ])
  }

  @Test func `a scale over powers of ten has no other ticks`() {
    let sizes = LogScale([1, 10, 100, 1000, 10_000])
    #expect(texts(sizes, .count) == ["1", "10", "100", "1,000", "10,000"])
  }

  @Test func `a scale for close values is lengthened to the requested factor of ten`() {
    let scale = LogScale([0.0201, 0.045], atLeast: 10)
    #expect(texts(scale, .seconds) == ["10 ms", "20 ms", "50 ms", "100 ms"])
  }

  @Test(arguments: [[10], [3, 3], [100, 100, 100]] as [[Double]])
  func `a scale for equal values has two different ends and contains the values`(values: [Double])
    throws
  {
    let scale = LogScale(values, atLeast: 2)
    #expect(scale.first <= values[0] && values[0] <= scale.last && scale.first < scale.last)
    #expect((0...1).contains(scale.position(values[0])))
  }

  private func texts(_ scale: LogScale, _ unit: ChartUnit) -> [String] {
    scale.ticks.map(unit.text)
  }
}

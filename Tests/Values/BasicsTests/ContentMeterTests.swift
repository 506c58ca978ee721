import SQBasics
import Testing

/// The comparison of a connection's bytes with their content.
@Suite struct ContentMeterTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `content justifies bytes that came before, and none that come later`() {
    var meter = ContentMeter()
    meter.arrived(1000, at: 0)
    #expect(meter.excess == 1000)
    meter.carried(10)
    #expect(meter.excess == 1000 - 10 * ContentMeter.bytesEach)
    meter.carried(1_000_000)
    #expect(meter.excess == 0)
    meter.arrived(500, at: 0)
    #expect(meter.excess == 500)
  }

  @Test func `bytes that are expected may come later`() {
    var meter = ContentMeter()
    meter.expect(1000)
    meter.carried(10)
    meter.arrived(1500, at: 0)
    #expect(meter.excess == 500)
  }

  @Test(arguments: [1, 10, 1000, 100_000])
  func `each second justifies as many bytes, however often they are counted`(counts: UInt64) {
    var meter = ContentMeter()
    let start = 5_000 * Self.second
    meter.arrived(0, at: start)
    meter.arrived(1_000_000, at: start)
    for count in 1...counts { meter.arrived(0, at: start + count * (10 * Self.second / counts)) }
    #expect(abs(meter.excess - (1_000_000 - 10 * 4096)) <= 2)
  }

  @Test func `a clock that stands still or goes back justifies nothing`() {
    var meter = ContentMeter()
    meter.arrived(0, at: 100 * Self.second)
    meter.arrived(1000, at: 100 * Self.second)
    meter.arrived(1000, at: 0)
    #expect(meter.excess == 2000)
  }
}

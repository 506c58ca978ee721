import SQBasics
import Testing

/// The excess of a connection's received bytes over the content that they carry.
@Suite struct ContentMeterTests {
  private static let second: UInt64 = 1_000_000_000

  @Test
  func `content lowers the count of overhead bytes that arrived before it, not of later ones`() {
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

  @Test func `expected overhead does not count as excess`() {
    var meter = ContentMeter()
    meter.expect(1000)
    meter.carried(10)
    meter.arrived(1500, at: 0)
    #expect(meter.excess == 500)
  }

  @Test(arguments: [1, 10, 1000, 100_000])
  func `the count of overhead bytes falls by 4096 per second, however often it is updated`(
    counts: UInt64
  ) {
    var meter = ContentMeter()
    let start = 5_000 * Self.second
    meter.arrived(0, at: start)
    meter.arrived(1_000_000, at: start)
    for count in 1...counts { meter.arrived(0, at: start + count * (10 * Self.second / counts)) }
    #expect(abs(meter.excess - (1_000_000 - 10 * 4096)) <= 2)
  }

  @Test func `a clock that stands still or goes back does not lower the count of overhead bytes`() {
    var meter = ContentMeter()
    meter.arrived(0, at: 100 * Self.second)
    meter.arrived(1000, at: 100 * Self.second)
    meter.arrived(1000, at: 0)
    #expect(meter.excess == 2000)
  }
}

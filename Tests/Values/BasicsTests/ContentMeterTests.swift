import SQBasics
import Testing

/// The excess of a connection's received bytes over the content that they carry.
@Suite struct ContentMeterTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `content reduces the excess of earlier bytes, not of later bytes`() {
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

  @Test func `expected bytes that arrive later do not count as excess`() {
    var meter = ContentMeter()
    meter.expect(1000)
    meter.carried(10)
    meter.arrived(1500, at: 0)
    #expect(meter.excess == 500)
  }

  @Test(arguments: [1, 10, 1000, 100_000])
  func `each second allows 4096 bytes, no matter how often the meter counts`(counts: UInt64) {
    var meter = ContentMeter()
    let start = 5_000 * Self.second
    meter.arrived(0, at: start)
    meter.arrived(1_000_000, at: start)
    for count in 1...counts { meter.arrived(0, at: start + count * (10 * Self.second / counts)) }
    #expect(abs(meter.excess - (1_000_000 - 10 * 4096)) <= 2)
  }

  @Test func `a clock that stands still or goes back does not reduce the excess`() {
    var meter = ContentMeter()
    meter.arrived(0, at: 100 * Self.second)
    meter.arrived(1000, at: 100 * Self.second)
    meter.arrived(1000, at: 0)
    #expect(meter.excess == 2000)
  }
}

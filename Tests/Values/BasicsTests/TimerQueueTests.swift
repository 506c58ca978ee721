import SQBasics
import Testing

/// The order in which an event loop's timers are due.
@Suite struct TimerQueueTests {
  private static func drain(_ timers: inout TimerQueue<Int, Int>, at now: UInt64) -> [Int] {
    var due: [Int] = []
    while let value = timers.takeDue(at: now) { due.append(value) }
    return due
  }

  @Test func `values are due in the order of their times, whatever the order of their changes`() {
    var timers = TimerQueue<Int, Int>()
    var times: [Int: UInt64] = [:]
    var random: UInt64 = 7
    for _ in 0..<5000 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let (id, time) = (Int(random >> 40) % 300, random >> 44)
      let isRemoval = random >> 33 & 7 == 0
      timers.set(id, id: id, at: isRemoval ? Monotonic.never : time)
      times[id] = isRemoval ? nil : time
      #expect(timers.next == times.values.min() ?? Monotonic.never)
    }
    let middle = times.values.sorted()[times.count / 2]
    let due = Self.drain(&timers, at: middle)
    #expect(due.map { times[$0] } == times.values.filter { $0 <= middle }.sorted())
    #expect(timers.next == times.values.filter { $0 > middle }.min())
    #expect(Self.drain(&timers, at: .max).count == times.count - due.count && timers.isEmpty)
  }

  @Test func `a new value for the same ID replaces the earlier value`() {
    var timers = TimerQueue<Int, Int>()
    timers.set(1, id: 7, at: 5)
    timers.set(2, id: 7, at: 5)
    #expect(Self.drain(&timers, at: 5) == [2])
    timers.set(3, id: 7, at: 5)
    timers.set(4, id: 7, at: 6)
    #expect(Self.drain(&timers, at: 6) == [4])
  }

  @Test func `a removed value is never due`() {
    var timers = TimerQueue<Int, Int>()
    for id in 0..<5 { timers.set(id, id: id, at: UInt64(id)) }
    timers.remove(0)
    timers.remove(3)
    timers.remove(3)
    timers.remove(9)
    #expect(Self.drain(&timers, at: 10) == [1, 2, 4])
  }
}

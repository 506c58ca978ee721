import Dispatch
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import TestSupport

/// When a progress closure is called, and with which values, on a queue that the test controls.
@Suite(.timeLimit(.minutes(1))) final class ProgressRelayTests: Sendable {
  private let queue = DispatchQueue(label: "progress")
  private let said = Locked<[Int]>([])

  private func relay(_ whenCalled: @escaping @Sendable () -> Void = {}) -> ProgressRelay<Int> {
    ProgressRelay(
      { [self] number in
        whenCalled()
        said.withLock { $0.append(number) }
      }, Callbacks(queue: queue))
  }

  @Test func `values arrive in order, and the last value arrives before the end`() async {
    let relay = relay()
    for number in 0..<1000 { relay.report(number) }
    await relay.end(isComplete: true)
    let said = said.withLock(\.self)
    #expect(said == said.sorted() && Set(said).count == said.count && said.last == 999)
  }

  @Test func `a busy closure gets the newest value, and not every value`() async throws {
    let isBusy = OneShot<Void>()
    let isFree = DispatchSemaphore(value: 0)
    let relay = relay {
      // The closure waits only in its first call.
      if isBusy.resolve(()) { isFree.wait() }
    }
    relay.report(0)
    await isBusy.value()
    for number in 1...1000 { relay.report(number) }
    isFree.signal()
    await relay.end(isComplete: true)
    #expect(said.withLock(\.self) == [0, 1000])
  }

  @Test func `a failure drops waiting values and does not wait for the queue`() async {
    let relay = relay()
    queue.suspend()
    relay.report(1)
    await relay.end(isComplete: false)
    relay.report(2)
    queue.resume()
    queue.sync {}
    #expect(said.withLock(\.self) == [])
  }

  @Test(arguments: [false, true])
  func `the end waits for a running call of the closure`(isComplete: Bool) async throws {
    let isBusy = OneShot<Void>()
    let isFree = DispatchSemaphore(value: 0)
    let relay = relay {
      isBusy.resolve(())
      isFree.wait()
    }
    relay.report(1)
    await isBusy.value()
    // The task starts immediately, so an `end` that does not wait would return before the closure
    // is released, and the test would fail.
    let saidAtEnd = Task.immediate { () -> [Int] in
      await relay.end(isComplete: isComplete)
      return self.said.withLock(\.self)
    }
    isFree.signal()
    #expect(await saidAtEnd.value == [1])
  }

  @Test func `no value arrives after the end`() async {
    let relay = relay()
    await relay.end(isComplete: true)
    relay.report(1)
    await relay.end(isComplete: true)
    queue.sync {}
    #expect(said.withLock(\.self) == [])
  }
}

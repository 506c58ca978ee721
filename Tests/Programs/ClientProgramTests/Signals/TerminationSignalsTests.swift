import Dispatch
import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The signals that ask a program to end.
///
/// Each case runs in its own process.
@Suite(.timeLimit(.minutes(1))) struct TerminationSignalsTests {
  @Test(.ownThreads, arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal is handled while every task and queue thread is busy`(
    signal: Int32
  ) async {
    await #expect(processExitsWith: .exitCode(7)) { [signal = signal as Int32] in
      for _ in 0..<200 {
        DispatchQueue.global().async { sleep(60) }
        Task.detached { sleep(60) }
      }
      let signals = TerminationSignals { number in
        _exit(number == signal ? 7 : 8)
      }
      kill(getpid(), signal)
      sleep(60)
      withExtendedLifetime(signals) {}
    }
  }

  @Test(.ownThreads) func `the object of a listener that stops may stop another in its deinit`()
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      final class Owner: Sendable {
        let other = TerminationSignals { _ in }
        deinit { other.stop() }
      }
      let signals = TerminationSignals { [owner = Owner()] _ in withExtendedLifetime(owner) {} }
      signals.stop()
      _exit(7)
    }
  }

  @Test(.ownThreads) func `a second signal ends the program while the first is being handled`()
    async
  {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let signals = TerminationSignals { _ in
        // Sends signals until one ends the process, half a second after the first signal.
        while true {
          kill(getpid(), SIGTERM)
          usleep(10_000)
        }
      }
      kill(getpid(), SIGINT)
      sleep(60)
      withExtendedLifetime(signals) {}
    }
  }

  /// The program `timeout` sends its signal twice, and a closing terminal sends two signals.
  @Test(.ownThreads, arguments: [SIGTERM, SIGHUP, SIGINT])
  func `signals within half a second are handled as one signal`(second: Int32) async {
    await #expect(processExitsWith: .exitCode(7)) { [second = second as Int32] in
      signal(SIGHUP, SIG_DFL)
      let start = ContinuousClock.now
      let signals = TerminationSignals { _ in
        // A signal that a slow machine sends too late would count as a second one.
        for _ in 1...3 where ContinuousClock.now - start < .milliseconds(400) {
          kill(getpid(), second)
        }
        _exit(7)
      }
      kill(getpid(), SIGTERM)
      sleep(60)
      withExtendedLifetime(signals) {}
    }
  }

  @Test(arguments: [
    (0, false), (1, false), (499_999_999, false), (500_000_000, true), (60_000_000_000, true),
  ])
  func `a signal half a second after the first is handled as a second signal`(
    later: UInt64, isAnother: Bool
  ) {
    #expect(SignalListener.isAnother(at: 7 + later, after: 7) == isAnother)
    // On two cores, the handler of the second signal may read the clock before the first handler.
    #expect(!SignalListener.isAnother(at: 6, after: 7))
  }

  @Test(.ownThreads) func `a signal ends the program again after the last listener stops`() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      // A shell ignores the signal for programs in the background.
      signal(SIGINT, SIG_DFL)
      let (first, second) = (TerminationSignals { _ in }, TerminationSignals { _ in })
      first.stop()
      second.stop()
      second.stop()
      kill(getpid(), SIGINT)
      // Another thread may receive the signal a moment later.
      sleep(60)
    }
  }

  /// The event loop is busy, so it hears of the signal only after the listener has stopped.
  @Test(.ownThreads) func `a signal that arrives before the last listener stops ends the program`()
    async
  {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let loop = HeldLoop()
      let signals = TerminationSignals { _ in _exit(7) }
      receiveHere(SIGTERM)
      signals.stop()
      loop.goOn()
      sleep(60)
    }
  }

  @Test(.ownThreads)
  func `a signal is handled although the event loop fails before it hears of the signal`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let loop = HeldLoop()
      let signals = TerminationSignals { _ in _exit(7) }
      receiveHere(SIGTERM)
      SignalListener.shared.loopHasFailed()
      sleep(60)
      withExtendedLifetime((signals, loop)) {}
    }
  }

  @Test(.ownThreads)
  func `an instance without work does not end the program during the refresh of another one`()
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try SessionFixture()
      let module = fixture.module
      fixture.oauth.environment.tokenStore = EndStore(savesAgain: { _exit(7) })
      try await module.adopt(fixture.server.issue(at: fixture.clock.now))
      fixture.server.gate.close()
      let refresh = begin { try await module.refresh() }
      try await fixture.server.gate.isHolding()
      let idle = EndStore(flushesAgain: {
        Task {
          // The server answers after the instance without work is done.
          for _ in 0..<1000 { await Task.yield() }
          fixture.server.gate.open()
        }
      })
      let signals = [
        TerminationSignals(flushing: [module]),
        TerminationSignals(flushing: AccountManager(store: idle)),
      ]
      kill(getpid(), SIGTERM)
      await Gate(isOpen: false).pass()
      withExtendedLifetime((signals, refresh)) {}
    }
  }

  @Test(.ownThreads) func `the program ends after the handlers of other instances have returned`()
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      let isFlushed = DispatchSemaphore(value: 0)
      let store = EndStore(flushesAgain: { isFlushed.signal() })
      let signals = [
        TerminationSignals(flushing: AccountManager(store: store)),
        TerminationSignals { _ in
          isFlushed.wait()
          for _ in 0..<1000 { sched_yield() }
          _exit(7)
        },
      ]
      kill(getpid(), SIGTERM)
      sleep(60)
      withExtendedLifetime(signals) {}
    }
  }

  @Test(.ownThreads)
  func `every listener receives a signal, and a later listener receives the next signal`()
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      let heard = DispatchSemaphore(value: 0)
      for _ in 0..<3 { _ = TerminationSignals { _ in heard.signal() } }
      kill(getpid(), SIGINT)
      for _ in 0..<3 { heard.wait() }
      let later = TerminationSignals { _ in _exit(7) }
      kill(getpid(), SIGTERM)
      sleep(60)
      withExtendedLifetime(later) {}
    }
  }
}

/// A store that tells of its second save and of its second flush.
private final class EndStore: SharedTokenStore {
  private let memory = MemoryTokenStore()
  private let counts = Locked((saves: 0, flushes: 0))
  private let savesAgain: @Sendable () -> Void
  private let flushesAgain: @Sendable () -> Void

  init(
    savesAgain: @escaping @Sendable () -> Void = {},
    flushesAgain: @escaping @Sendable () -> Void = {}
  ) {
    (self.savesAgain, self.flushesAgain) = (savesAgain, flushesAgain)
  }

  func load(_ id: String) async -> AccountRecord? { await memory.load(id) }

  func save(_ record: AccountRecord) async {
    await memory.save(record)
    let count = counts.withLock { counts in
      counts.saves += 1
      return counts.saves
    }
    if count == 2 { savesAgain() }
  }

  func erase(_ id: String) async { await memory.erase(id) }
  func list() async -> [String] { await memory.list() }
  func lease(_ id: String) async -> AccountLease? { AccountLease {} }

  func flush() async {
    let count = counts.withLock { counts in
      counts.flushes += 1
      return counts.flushes
    }
    if count == 2 { flushesAgain() }
  }
}

/// Sends a signal to this thread; its handler has returned when the call returns.
private func receiveHere(_ number: Int32) {
  // The threads of Swift's tasks block signals.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, number)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  raise(number)
}

/// A handler that holds the thread of the shared event loop, from its creation until ``goOn()``.
private final class HeldLoop: EventHandler {
  private let isHeld = DispatchSemaphore(value: 0)
  private let mayGoOn = DispatchSemaphore(value: 0)

  init() {
    EventLoop.shared?.callSoon(self)
    isHeld.wait()
  }

  func isCalled() {
    isHeld.signal()
    mayGoOn.wait()
  }

  func goOn() { mayGoOn.signal() }
}

import Dispatch
import Foundation
import ProgramSupport
import SequencingOAuth
import Testing

@testable import TestSupport

/// The signals that ask a program to end; each case runs in its own process.
@Suite(.timeLimit(.minutes(1))) struct TerminationSignalsTests {
  @Test(.ownThreads, arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal is heard while every thread of tasks and queues is busy`(
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

  @Test(.ownThreads) func `the second signal ends the program though the first is not done with`()
    async
  {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let signals = TerminationSignals { _ in
        kill(getpid(), SIGTERM)
        sleep(60)
      }
      kill(getpid(), SIGINT)
      sleep(60)
      withExtendedLifetime(signals) {}
    }
  }

  @Test(.ownThreads) func `signals end the program again after the last listener stops`() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      // A shell ignores it for programs in the background.
      signal(SIGINT, SIG_DFL)
      let (first, second) = (TerminationSignals { _ in }, TerminationSignals { _ in })
      first.stop()
      second.stop()
      second.stop()
      kill(getpid(), SIGINT)
      // Another thread may get the signal, a moment later.
      sleep(60)
    }
  }

  @Test(.ownThreads) func `every listener hears the signal, and a later one the next`() async {
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

import Foundation
import ProgramSupport
import SQBasics
import TestSupport
import Testing

@testable import SequencingOAuth

/// The signals of a program that lends its terminal to another program.
@Suite(.timeLimit(.minutes(1))) struct ProgramTerminalTests {
  @Test(.ownThreads)
  func `a signal listener started while the terminal is lent still works afterwards`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let loan = ProgramTerminal(input: 0, output: 2).lend()
      let heard = OneShot<Void>()
      let signals = TerminationSignals { _ in heard.resolve(()) }
      loan.end(isReset: false)
      kill(getpid(), SIGINT)
      try #require(await heard.value())
      signals.stop()
    }
  }

  @Test(.ownThreads)
  func `if a signal listener stops while the terminal is lent, signals end the program afterwards`()
    async throws
  {
    await #expect(processExitsWith: .signal(SIGINT)) {
      let signals = TerminationSignals { _ in }
      let loan = ProgramTerminal(input: 0, output: 2).lend()
      signals.stop()
      loan.end(isReset: false)
      kill(getpid(), SIGINT)
      try await Task.sleep(for: .seconds(30))
    }
  }

  /// Two sign-ins may each have a browser in the terminal, and either may end first.
  @Test(.ownThreads)
  func `the last program to return the terminal restores the settings from before the first`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      for isReversed in [false, true] {
        let pseudo = try PseudoTerminal()
        let side = pseudo.handle.fileDescriptor
        func settings() -> termios {
          var settings = termios()
          tcgetattr(side, &settings)
          return settings
        }
        let before = settings().c_lflag
        var raw = settings()
        cfmakeraw(&raw)
        let terminal = ProgramTerminal(input: side, output: side)
        let first = terminal.lend()
        tcsetattr(side, TCSANOW, &raw)
        let second = terminal.lend()
        (isReversed ? second : first).end(isReset: false)
        try #require(settings().c_lflag == raw.c_lflag, "another program still has the terminal")
        (isReversed ? first : second).end(isReset: false)
        try #require(settings().c_lflag == before)
      }
    }
  }

  @Test(.ownThreads)
  func `Ctrl-C has no effect while the terminal is lent, and ends the program afterwards`()
    async throws
  {
    await #expect(processExitsWith: .signal(SIGINT)) {
      let loan = ProgramTerminal(input: 0, output: 2).lend()
      kill(getpid(), SIGINT)
      let quit = kill(getpid(), SIGQUIT)
      try #require(quit == 0)
      loan.end(isReset: false)
      kill(getpid(), SIGINT)
      try await Task.sleep(for: .seconds(30))
    }
  }
}

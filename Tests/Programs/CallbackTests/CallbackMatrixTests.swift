import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// Delegates and completions in real programs.
///
/// The SDK calls each delegate class on its actor or queue, with any callback queue and any state
/// of the main thread. When the tests run under ThreadSanitizer, the programs are built with
/// ThreadSanitizer too. Each program reads a delegate's variables on the actor or queue that
/// created the delegate. This must not be a data race.
@Suite(.timeLimit(.minutes(10))) struct CallbackMatrixTests {
  private static let screens = ["PlainScreen", "MainScreen", "ScreenActor", "OtherScreen"]
  private static let queues = ["main", "private"]

  /// The expected calls of a screen.
  ///
  /// Only the first call has a fixed position.
  private static let calls: Set = [
    "authorized", "refreshed", "restored", "fresh", "uploaded", "ended", "out",
  ]

  @Test(arguments: ScreenSources.Mode.allCases)
  func `a delegate class of each isolation is called on its actor or queue without a data race`(
    mode: ScreenSources.Mode
  ) async throws {
    let builder = try ProgramBuilder()
    let sandbox = try await SandboxServer.start()
    for isAsync in [false, true] {
      let sources = ScreenSources(mode: mode, isAsync: isAsync)
      let program = try await builder.build(
        isAsync ? "async" : "synchronous", sources.files, mode.options)
      for main in isAsync ? ["async"] : ["loop", "dispatch", "blocked"] {
        for screen in Self.screens {
          for queue in Self.queues {
            try await check(
              [program, sandbox.issuer.absoluteString, screen, queue, main],
              comesWhileBlocked: queue == "private" && screen != "MainScreen")
          }
        }
      }
    }
  }

  private func check(_ command: [String], comesWhileBlocked: Bool) async throws {
    let program = try ChildProcess(command, input: .open)
    if command.last == "blocked" {
      // Calls that need the main thread are made only when that thread is free again.
      _ = try await program.line(after: comesWhileBlocked ? "out" : "blocked")
      if !comesWhileBlocked { #expect(program.output == "blocked\n") }
      program.endInput()
    }
    let result = try await program.result()
    let name = command.dropFirst(2).joined(separator: " ")
    // On a slow machine a callback may wait long enough for the SDK's warning.
    let warning = "SequencingOAuth: a callback has waited 5 s for the blocked main thread. "
    let errors = result.errors.split(separator: "\n").filter { !$0.hasPrefix(warning) }
    #expect(result.status == 0 && errors.isEmpty, "\(name): \(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init).filter { $0 != "blocked" }
    #expect(Set(lines.dropLast()) == Self.calls && lines.count == 8, "\(name): \(lines)")
    #expect(lines.first == "authorized" && lines.last == "read", "\(name): \(lines)")
  }
}

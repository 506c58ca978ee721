import Foundation
import SQBasics

/// The programs that request tokens, several at a time, until the torture test ends.
final class Crowd: Sendable {
  private let arena: Arena
  private let tally: Tally
  private let running = Locked<[(account: Account, run: Run)]>([])

  init(_ arena: Arena, _ tally: Tally) {
    self.arena = arena
    self.tally = tally
  }

  /// Runs `width` programs at a time until `end`.
  func work(until end: ContinuousClock.Instant, width: Int) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<width {
        group.addTask {
          while ContinuousClock.now < end {
            guard let account = self.arena.accounts.randomElement() else { return }
            await self.use(account)
          }
        }
      }
    }
  }

  /// Runs a program for an account once, and returns whether the program printed a token.
  @discardableResult
  func use(_ account: Account) async -> Bool {
    do {
      let start = tally.start(account)
      let run = try Run(arena.command(account))
      running.withLock { $0.append((account, run)) }
      tally.happened("\(run) starts", to: account)
      let outcome = await run.outcome()
      tally.happened("\(run) ends: \(outcome.summary)", to: account)
      running.withLock { $0.removeAll { $0.run === run } }
      return try await judge(outcome, of: account, start)
    } catch {
      tally.ended("the torture test itself failed: \(error)")
      return false
    }
  }

  private func judge(
    _ outcome: Run.Outcome, of account: Account, _ start: Tally.Start
  ) async throws -> Bool {
    if outcome.isKilled {
      tally.ended("killed")
      // The signal may be SIGKILL, or a second SIGINT, SIGTERM or SIGHUP, which ends a program at
      // once.
      tally.suspects("its program was killed in the middle of a refresh", of: account)
      return false
    }
    switch (outcome.status, outcome.code) {
    case (0, _):
      tally.ended("a token")
      tally.works(account, start)
      return true
    case (1, "invalid_grant"?), (1, "no_account"?), (1, "not_authorized"?):
      tally.ended("signed out: \(outcome.code ?? "")")
      guard tally.lost(account, start, outcome.errors) else { return false }
      // A new sign-in stores new tokens for the next programs.
      while (try? await arena.signIn(account)) == nil {
        try await Task.sleep(for: .milliseconds(100))
      }
      tally.signedIn(account)
    case (4, _):
      tally.ended("a token that could not be stored")
      tally.suspects("its program said that the token could not be stored", of: account)
    case (_, let code?):
      tally.ended("a clear error: \(code)")
      if ["connection_failed", "invalid_response"].contains(code) {
        tally.suspects("its connection broke in the middle of a refresh", of: account)
      }
    default: _ = tally.lost(account, start, "status \(outcome.status): \(outcome.errors)")
    }
    return false
  }

  /// The accounts that running programs use.
  var busy: [Account] { running.withLock { $0.map(\.account) } }

  /// Returns a random running program and its account.
  func anyone() -> (account: Account, run: Run)? {
    running.withLock { $0.randomElement() }.map { ($0.account, $0.run) }
  }
}

import Foundation
import OAuthSandbox

/// Kills programs around the moment at which the server's answer arrives, and counts the sign-ins
/// that this costs.
struct Kills {
  let arena: Arena

  func run(_ count: Int) async throws {
    for store in arena.stores {
      let account = Account(store: store, id: "a")
      var lost = 0
      for _ in 0..<count {
        if try await !survives(account) { lost += 1 }
      }
      print("\(store.name): \(lost) of \(count) sign-ins lost to kill -9 around the answer")
    }
  }

  /// Kills one refresh within 5 ms of its request's arrival; returns whether the account works then.
  private func survives(_ account: Account) async throws -> Bool {
    let before = arena.sandbox.requests(to: .token).count
    let run = try Run(arena.command(account))
    _ = try await arena.sandbox.requests(to: .token, atLeast: before + 1)
    usleep(UInt32.random(in: 0...5000))
    run.signal(SIGKILL)
    _ = await run.outcome()
    let next = await (try Run(arena.command(account))).outcome()
    if next.status == 0 { return true }
    try await arena.signIn(account)
    return false
  }
}

import Foundation
import OAuthSandbox

/// A test that kills programs around the moment at which the server's answer arrives.
///
/// It counts the lost sign-ins.
struct Kills {
  let arena: Arena

  /// The kills come from 0 to 5000 µs after the request's arrival at the server.
  private static let microseconds = 5000
  private static let columns = 10

  func run(_ count: Int) async throws {
    for store in arena.stores {
      let account = Account(store: store, id: "a")
      var lost = [Int](repeating: 0, count: Self.columns)
      for number in 0..<count {
        let moment = number * Self.microseconds / count
        if try await !survives(account, killedAt: moment) {
          lost[moment * Self.columns / Self.microseconds] += 1
        }
      }
      print(
        "\(store.name): \(lost.reduce(0, +)) of \(count) sign-ins lost to kill -9 "
          + "in the 5 ms after the request's arrival; by half milliseconds: \(lost)")
    }
  }

  /// Kills a refresh this many microseconds after its request has arrived.
  ///
  /// - Returns: Whether the account still works.
  private func survives(_ account: Account, killedAt moment: Int) async throws -> Bool {
    arena.sandbox.forgetRequests()
    let run = try Run(arena.command(account))
    _ = try await arena.sandbox.requests(to: .token, atLeast: 1)
    usleep(UInt32(moment))
    run.signal(SIGKILL)
    _ = await run.outcome()
    let next = await (try Run(arena.command(account))).outcome()
    if next.status == 0 { return true }
    try await arena.signIn(account)
    return false
  }
}

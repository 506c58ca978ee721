import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

@testable import SQBasics

/// Processes that keep the accounts of one database fresh.
///
/// The server ends a sign-in if its refresh token arrives twice.
final class Fleet: Sendable {
  /// A process of the fleet, and the words before its command, for a restart after a kill.
  private struct Worker {
    var process: ChildProcess
    let starter: [String]
  }

  let accounts: KeptAccounts
  let ids: [String]
  /// The connection string of the workers.
  private let connection: String
  private let workers: Locked<[Worker]>
  /// The number of killed workers.
  private let kills = Locked(0)

  /// Signs users in and starts workers.
  ///
  /// `starters` has an array for each worker: the words before the worker's command.
  init(
    _ accounts: KeptAccounts, connection: String, count: Int, starters: [[String]]
  ) async throws {
    self.accounts = accounts
    self.connection = connection
    ids = (1...count).map { "account \($0)" }
    try await accounts.add(ids, expiringAfter: 1)
    let issuer = accounts.sandbox.issuer.absoluteString
    workers = Locked(
      try starters.map { starter in
        Worker(process: try Self.start(starter, connection, issuer), starter: starter)
      })
  }

  private static func start(
    _ starter: [String], _ connection: String, _ issuer: String
  ) throws -> ChildProcess {
    try ChildProcess(starter + [StoreProbe.executable, connection, "keep", issuer])
  }

  /// The number of refreshes that the server has processed.
  var rotations: Int { accounts.refreshes }

  /// Waits until the server has processed `more` further refreshes.
  func rotate(_ more: Int) async throws {
    let end = rotations + more
    // After a fault, the other workers may need two and a half minutes to take over accounts.
    try await eventually("\(more) rotations", within: .seconds(300)) { rotations >= end }
  }

  // MARK: Faults

  func process(_ index: Int) -> ChildProcess { workers.withLock { $0[index % $0.count].process } }

  /// Kills a worker and starts another one in its place.
  func kill(_ index: Int) async throws {
    let old = process(index)
    old.signal(SIGKILL)
    _ = try await old.result()
    kills.withLock { $0 += 1 }
    let (connection, issuer) = (connection, accounts.sandbox.issuer.absoluteString)
    try workers.withLock { workers in
      let place = index % workers.count
      workers[place].process = try Self.start(workers[place].starter, connection, issuer)
    }
  }

  /// Suspends a worker until the server has processed `rotations` further refreshes.
  func suspend(_ index: Int, during rotations: Int) async throws {
    let worker = process(index)
    worker.signal(SIGSTOP)
    try await rotate(rotations)
    worker.signal(SIGCONT)
  }

  // MARK: The end

  /// Stops all workers gracefully and returns what they printed.
  func stop() async throws -> [String] {
    let processes = workers.withLock { $0.map(\.process) }
    for process in processes { process.signal(SIGTERM) }
    var outputs: [String] = []
    for process in processes {
      let result = try await process.result(within: .seconds(120))
      #expect(result.status == 0, "\(result.errors)")
      outputs.append(result.output)
    }
    return outputs
  }

  /// Checks that no more sign-ins were lost than the killed workers can have been refreshing.
  func check(_ store: PostgreSQLTokenStore) async throws {
    var lost = 0
    for id in ids {
      let token = try await store.load(id)?.token.refreshToken
      let isLatest = token.map {
        accounts.sandbox.latestRefreshToken(inFamilyOf: $0) == $0 && accounts.sandbox.isActive($0)
      }
      if isLatest != true { lost += 1 }
    }
    // A worker renews eight accounts at a time.
    let most = kills.withLock { $0 } * 8
    try #require(most < ids.count)
    #expect(lost <= most && accounts.sandbox.refreshTokenReuses <= lost)
    let counts = "\(rotations) rotations, \(lost) sign-ins lost by \(kills.withLock { $0 }) kills"
    Attachment.record(counts, named: "fleet.txt")
    if ProcessInfo.processInfo.environment["FLEET_ROTATIONS"] != nil { print(counts) }
  }
}

import SQBasics
import SequencingOAuth

@testable import TestSupport

/// A store that records every token that it was asked to save.
final class WatchedStore: TokenStore {
  let scripted = ScriptedStore()
  private let offered = Locked<[SQToken]>([])
  private let report: Report

  init(_ report: Report) { self.report = report }

  /// Every token that the store was asked to save, in order, even if the save failed.
  var history: [SQToken] { offered.withLock(\.self) }

  /// Returns whether the store was asked to save this token before.
  func knows(_ token: SQToken) -> Bool {
    offered.withLock { $0.contains { $0.refreshToken == token.refreshToken } }
  }

  /// Returns the token that is really stored, even if the store reports an error.
  func content(_ id: String = "default") async -> SQToken? {
    await scripted.memory.load(id)?.token
  }

  func load(_ id: String) async throws -> AccountRecord? { try await scripted.load(id) }

  func save(_ record: AccountRecord) async throws {
    let name = report.name(record.token.refreshToken)
    defer { offered.withLock { $0.append(record.token) } }
    report.note("to be stored: \(name)")
    try await scripted.save(record)
    report.note("stored: \(name)")
  }

  func erase(_ id: String) async throws {
    report.note("to be erased")
    try await scripted.erase(id)
    report.note("erased")
  }

  func list() async throws -> [String] { try await scripted.list() }
}

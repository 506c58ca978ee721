import SQBasics
import SequencingOAuth

/// A store in memory that fails for some of its accounts.
struct PartlyBrokenStore: TokenStore {
  enum Failure {
    case toErase
    case toLoad(SQOAuthError.Code)
  }

  private let ids: Set<String>
  private let failure: Failure
  private let memory = MemoryTokenStore()

  init(_ ids: Set<String>, fails failure: Failure) {
    self.ids = ids
    self.failure = failure
  }

  func load(_ id: String) async throws -> AccountRecord? {
    if case .toLoad(let code) = failure, ids.contains(id) {
      throw SQOAuthError(code, "the record cannot be read")
    }
    return await memory.load(id)
  }

  func save(_ record: AccountRecord) async { await memory.save(record) }

  func erase(_ id: String) async throws {
    if case .toErase = failure, ids.contains(id) {
      throw SQOAuthError(.storeFailed, "the account cannot be erased")
    }
    await memory.erase(id)
  }

  func list() async -> [String] { await memory.list() }
}

import SequencingOAuth

/// A store in memory that reads nothing for a cancelled task.
struct CancellableStore: TokenStore {
  var memory = MemoryTokenStore()

  func load(_ id: String) async throws -> AccountRecord? {
    guard !Task.isCancelled else { throw SQOAuthError.waitCancelled }
    return await memory.load(id)
  }

  func save(_ record: AccountRecord) async { await memory.save(record) }
  func erase(_ id: String) async { await memory.erase(id) }
  func list() async -> [String] { await memory.list() }
}

import SequencingOAuth

/// A store whose `save` and `erase`, and with `toLoad` also `load`, fail with the test's error.
final class FailingStore: TokenStore {
  struct Full: Error {}
  let memory = MemoryTokenStore()
  let error: any Error
  let failsToLoad: Bool
  init(_ error: any Error, toLoad failsToLoad: Bool = false) {
    self.error = error
    self.failsToLoad = failsToLoad
  }
  func load(_ id: String) async throws -> AccountRecord? {
    if failsToLoad { throw error }
    return await memory.load(id)
  }
  func save(_ record: AccountRecord) async throws { throw error }
  func erase(_ id: String) async throws { throw error }
  func list() async throws -> [String] { await memory.list() }
}

import LoopbackHTTP
import SequencingOAuth

/// A store that fails, or waits before it saves, when a test wants it to.
final class StubbornStore: TokenStore {
  struct Failure: Error {}

  private struct State {
    var fails = false
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
    var saves: [String?] = []
    var erases = 0
  }

  private let memory = MemoryTokenStore()
  private let state = Locked(State())

  /// The refresh tokens that were to be saved, in order, whatever came of it.
  var saves: [String?] { state.withLock(\.saves) }

  /// How often something was to be erased.
  var erases: Int { state.withLock(\.erases) }

  /// Lets every call fail from now on, or none.
  func fails(_ fails: Bool) { state.withLock { $0.fails = fails } }

  /// Lets saves wait from now on.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Lets the saves that wait go on, and those that come.
  func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      state.isHeld = false
      return state.held
    }
    for save in held { save.resume() }
  }

  func load(_ id: String) async throws -> AccountRecord? {
    try check()
    return await memory.load(id)
  }

  func save(_ record: AccountRecord) async throws {
    state.withLock { $0.saves.append(record.token.refreshToken) }
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return !state.isHeld
      }
      if goesOn { continuation.resume() }
    }
    try check()
    await memory.save(record)
  }

  func erase(_ id: String) async throws {
    state.withLock { $0.erases += 1 }
    try check()
    await memory.erase(id)
  }

  func list() async throws -> [String] { await memory.list() }

  private func check() throws {
    if state.withLock(\.fails) { throw Failure() }
  }
}

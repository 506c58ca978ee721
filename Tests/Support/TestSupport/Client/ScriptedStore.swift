import SQBasics
import SequencingOAuth

/// A store in memory that keeps a log, and waits and fails as a test says.
final class ScriptedStore: SharedTokenStore, ReservingTokenStore {
  struct Full: Error {}

  private struct State {
    var calls: [String] = []
    var failsToLoad = false
    var failsToSave = false
    var failsToErase = false
    var failsToReserve = false
    var canLease = true
    var reservations = 0
  }

  let memory = MemoryTokenStore()
  let loading = Gate()
  let saving = Gate()
  let erasing = Gate()
  /// Holds a reservation after it was made, before the caller learns of it.
  let reserving = Gate()
  private let state = Locked(State())

  /// Every call of `load`, `save` and `erase` that began, in order: `load`, `save T1 R1`, `erase`,
  /// and `erased` at the end of an erasure.
  var calls: [String] { state.withLock(\.calls) }
  /// The number of successful reservations.
  var reservations: Int { state.withLock(\.reservations) }
  /// Every save that began, in order.
  var saves: [String] { calls.filter { $0.hasPrefix("save") } }

  func fails(
    toLoad: Bool = false, toSave: Bool = false, toErase: Bool = false, toReserve: Bool = false,
    toLease: Bool = false
  ) {
    state.withLock { state in
      state.failsToReserve = toReserve
      state.canLease = !toLease
      state.failsToLoad = toLoad
      state.failsToSave = toSave
      state.failsToErase = toErase
    }
  }

  /// Returns the stored access token and refresh token, such as `T1 R1`.
  func content(_ id: String = "default") async -> String? {
    await memory.load(id).map { Self.words($0.token) }
  }

  static func words(_ token: SQToken) -> String {
    "\(token.accessToken) \(token.refreshToken ?? "-")"
  }

  func load(_ id: String) async throws -> AccountRecord? {
    try begin("load", \.failsToLoad)
    await loading.pass()
    return await memory.load(id)
  }

  func save(_ record: AccountRecord) async throws {
    let call = "save \(Self.words(record.token))"
    state.withLock { $0.calls.append(call) }
    await saving.pass()
    if state.withLock(\.failsToSave) { throw Full() }
    await memory.save(record)
  }

  func erase(_ id: String) async throws {
    try begin("erase", \.failsToErase)
    await erasing.pass()
    await memory.erase(id)
    state.withLock { $0.calls.append("erased") }
  }

  func list() async throws -> [String] { await memory.list() }

  func lease(_ id: String) async throws -> AccountLease? {
    guard state.withLock(\.canLease) else { throw Full() }
    return AccountLease {}
  }

  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    let fails = state.withLock { state in
      if !state.failsToReserve { state.reservations += 1 }
      return state.failsToReserve
    }
    if fails { throw Full() }
    await reserving.pass()
    return AccountReservation()
  }

  private func begin(_ call: String, _ fails: any KeyPath<State, Bool> & Sendable) throws {
    let isFailing = state.withLock { state in
      state.calls.append(call)
      return state[keyPath: fails]
    }
    if isFailing { throw Full() }
  }
}

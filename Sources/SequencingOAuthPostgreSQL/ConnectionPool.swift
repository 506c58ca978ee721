import Basics
import SequencingOAuth

/// The connections of a store, each of which serves one call at a time, for any account.
///
/// The pool makes another connection only while all others are busy, and closes unused ones.
final class ConnectionPool: Sendable {
  /// Opens a connection; it may block.
  typealias Opener = @Sendable () throws(SQOAuthError) -> Connection
  /// Prepares a new connection; it may block.
  typealias Preparation = @Sendable (Connection) throws(SQOAuthError) -> Void

  /// A place in the pool: an open connection, or room for a new one.
  private typealias Place = Connection?

  private struct State {
    /// The connections without a call and since when; the last one gets the next call.
    var idle: [(connection: Connection, since: ContinuousClock.Instant)] = []
    /// The calls for which all places are taken.
    var waiting: [OneShot<Place>] = []
    /// How many places are taken or idle.
    var count = 0
    /// Whether a connection could ever be made; until then a call fails at once.
    var hasConnected = false
    var isClosed = false
    /// Whether a task closes connections that stay idle.
    var isTidied = false
  }

  private let open: Opener
  private let prepare: Preparation
  private let size: Int
  private let state = Locked(State())

  /// How long a connection stays open without a call.
  private static let idleTime = Duration.seconds(60)
  private static let pauses = (first: Duration.milliseconds(20), longest: Duration.seconds(1))

  init(size: Int, open: @escaping Opener, prepare: @escaping Preparation) {
    self.open = open
    self.prepare = prepare
    self.size = size
  }

  /// Runs work with a connection and returns its result.
  ///
  /// Statements of the work end within `limit`, apart from the time of connecting. A failure that
  /// may pass is repeated for `patience`. The work may run several times, since a connection may
  /// break after the server did what it was asked. A cancelled caller still waits for the end.
  func run<Value>(
    within limit: Duration, retryingFor patience: Duration,
    _ work: (Connection, ContinuousClock.Instant) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let deadline = ContinuousClock.now + limit
    let end = ContinuousClock.now + min(patience, limit)
    var pause = Duration.zero
    var connection = await takePlace()
    defer { leave(connection) }
    while true {
      do throws(SQOAuthError) {
        let opened: Connection
        if let connection { opened = connection } else { opened = try await connect() }
        connection = opened
        opened.mayBlock = isAlone
        return try await work(opened, deadline)
      } catch {
        let failure = error.cause as? PostgreSQLError
        if failure?.endsConnection ?? false { connection = nil }
        let isLate = ContinuousClock.now + pause >= end
        guard failure?.isPassing ?? false, !isLate, state.withLock(\.hasConnected),
          let watch = SocketWatch.shared
        else { throw error }
        // The first new attempt is made at once: an idle connection may have broken long ago.
        if pause > .zero { await watch.sleep(until: .now + pause) }
        pause = min(max(pause * 2, Self.pauses.first), Self.pauses.longest)
      }
    }
  }

  private func connect() async throws(SQOAuthError) -> Connection {
    let connection = await Threads.run { [self] in
      Result { () throws(SQOAuthError) in
        let connection = try open()
        state.withLock { $0.hasConnected = true }
        try prepare(connection)
        return connection
      }
    }
    guard let connection else {
      throw SQOAuthError(.storeFailed, "the system has no thread for the token database")
    }
    return try connection.get()
  }

  // MARK: Places

  /// Whether only one place is taken, by the caller.
  private var isAlone: Bool { state.withLock { $0.count - $0.idle.count == 1 } }

  private func takePlace() async -> Place {
    let (place, turn) = state.withLock { state -> (Place, OneShot<Place>?) in
      if let idle = state.idle.popLast() { return (idle.connection, nil) }
      guard state.count == size else {
        state.count += 1
        return (nil, nil)
      }
      let turn = OneShot<Place>()
      state.waiting.append(turn)
      return (nil, turn)
    }
    return if let turn { await turn.wait() } else { place }
  }

  /// Gives a place to the next call, or keeps its connection for a later one.
  private func leave(_ place: Place) {
    let (turn, tidies) = state.withLock { state -> (OneShot<Place>?, Bool) in
      if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
      guard let place, !state.isClosed else {
        state.count -= 1
        return (nil, false)
      }
      state.idle.append((place, .now))
      defer { state.isTidied = true }
      return (nil, !state.isTidied)
    }
    turn?.resolve(place)
    if tidies { Task { [weak self] in await Self.tidy { self } } }
  }

  /// Closes connections that stay idle, until there are none.
  private static func tidy(_ pool: () -> ConnectionPool?) async {
    while let next = pool()?.closeIdle() {
      try? await Task.sleep(until: next, clock: .continuous)
    }
  }

  /// Closes connections that are idle for long; returns when to do so again.
  private func closeIdle() -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    let (old, next) = state.withLock { state in
      let old = state.idle.filter { $0.since + Self.idleTime <= now }
      state.idle.removeFirst(old.count)
      state.count -= old.count
      let next = state.idle.first.map { $0.since + Self.idleTime }
      state.isTidied = next != nil
      return (old, next)
    }
    // They are closed here, outside the lock.
    withExtendedLifetime(old) {}
    return next
  }

  /// Closes the idle connections now, and the busy ones after their calls.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      state.count -= state.idle.count
      defer { state.idle = [] }
      return state.idle
    }
    withExtendedLifetime(idle) {}
  }
}

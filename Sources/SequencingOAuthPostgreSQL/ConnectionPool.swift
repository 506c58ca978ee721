import SQBasics
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

  /// A call for which all places are taken.
  private struct Waiter {
    /// Gets the place, or `nil` at the end of the call's time.
    let turn = OneShot<Place?>()
    let deadline: ContinuousClock.Instant
  }

  private struct State {
    /// The connections without a call and since when; the last one gets the next call.
    var idle: [(connection: Connection, since: ContinuousClock.Instant)] = []
    /// The calls that wait for a place, in the order in which they came.
    var waiting: [Waiter] = []
    /// Whether a task ends the waits of calls whose time is over.
    var isWatched = false
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
  /// The wait for a connection and the statements of the work end within `limit`, to which the time
  /// of connecting is added. A failure that may pass is repeated for `patience`, with a last attempt
  /// that begins in that time. The work may run several times, since a connection may break after
  /// the server did what it was asked. A cancelled caller still waits for the end.
  func run<Value>(
    within limit: Duration, retryingFor patience: Duration,
    _ work: (Connection, ContinuousClock.Instant) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    var deadline = ContinuousClock.now + limit
    let end = ContinuousClock.now + min(patience, limit)
    var pause = Duration.zero
    guard var connection = await takePlace(until: deadline) else {
      throw PostgreSQLError.busy.reported
    }
    defer { leave(connection) }
    while true {
      do throws(SQOAuthError) {
        let opened: Connection
        if let connection {
          opened = connection
        } else {
          let start = ContinuousClock.now
          defer { deadline += ContinuousClock.now - start }
          opened = try await connect()
        }
        connection = opened
        opened.mayBlock = isAlone
        return try await work(opened, deadline)
      } catch {
        let failure = error.cause as? PostgreSQLError
        if failure?.endsConnection ?? false || connection?.isAtRest == false { connection = nil }
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

  /// Waits for a place; returns `nil` if there was none until the deadline.
  private func takePlace(until deadline: ContinuousClock.Instant) async -> Place? {
    let (place, waiter, watches) = state.withLock { state -> (Place?, Waiter?, Bool) in
      if let idle = state.idle.popLast() { return (.some(idle.connection), nil, false) }
      guard state.count == size else {
        state.count += 1
        return (.some(nil), nil, false)
      }
      let waiter = Waiter(deadline: deadline)
      state.waiting.append(waiter)
      defer { state.isWatched = true }
      return (nil, waiter, !state.isWatched)
    }
    if watches { Task { [weak self] in await Self.repeating { self?.endWaits() } } }
    return if let waiter { await waiter.turn.wait() } else { place }
  }

  /// Ends the waits of calls whose time is over; returns when to do so again.
  private func endWaits() -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    let (late, next) = state.withLock { state in
      // All calls have the same limit, so the first one's time is over first.
      let late = state.waiting.prefix { $0.deadline <= now }
      state.waiting.removeFirst(late.count)
      let next = state.waiting.first?.deadline
      state.isWatched = next != nil
      return (late, next)
    }
    for waiter in late { waiter.turn.resolve(nil) }
    return next
  }

  /// Gives a place to the next call, or keeps its connection for a later one.
  ///
  /// A connection on which a statement is under way is closed: its answer would reach another call.
  private func leave(_ used: Place) {
    let place = used?.isAtRest == true ? used : nil
    let (waiter, tidies) = state.withLock { state -> (Waiter?, Bool) in
      if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
      guard let place, !state.isClosed else {
        state.count -= 1
        return (nil, false)
      }
      state.idle.append((place, .now))
      defer { state.isTidied = true }
      return (nil, !state.isTidied)
    }
    waiter?.turn.resolve(.some(place))
    if tidies { Task { [weak self] in await Self.repeating { self?.closeIdle() } } }
  }

  /// Calls a closure at the times that it returns, until it returns `nil`.
  private static func repeating(_ body: () -> ContinuousClock.Instant?) async {
    while let next = body() { try? await Task.sleep(until: next, clock: .continuous) }
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

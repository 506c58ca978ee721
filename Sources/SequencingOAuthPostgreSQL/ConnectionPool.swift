import SQBasics
import SequencingOAuth

/// A pool of connections that each serve one call at a time, for any account.
///
/// The pool opens a further connection only if all others are busy, and closes unused connections.
final class ConnectionPool: Sendable {
  /// A function that opens a connection; it may block.
  typealias Opener = @Sendable () throws(SQOAuthError) -> Connection
  /// A function that prepares a new connection; it may block.
  typealias Preparation = @Sendable (Connection) throws(SQOAuthError) -> Void

  /// A place in the pool: an open connection, or `nil` for a connection that is still to be opened.
  private typealias Place = Connection?

  /// A call that waits because all places in the pool are taken.
  private struct Waiter {
    /// Resolved with the place, or with `nil` at the call's deadline.
    let turn = OneShot<Place?>()
    let deadline: ContinuousClock.Instant
  }

  private struct State {
    /// The idle connections, and when each became idle; the last connection gets the next call.
    var idle: [(connection: Connection, since: ContinuousClock.Instant)] = []
    /// The calls that wait for a place in the pool, in order of arrival.
    var waiting: [Waiter] = []
    /// Whether a task is running to end waits at their deadlines.
    var isWatched = false
    /// The number of places in the pool that are taken or idle.
    var count = 0
    /// Whether a connection was ever opened; before that, calls fail at once without retries.
    var hasConnected = false
    var isClosed = false
    /// Whether a task is running to close idle connections.
    var isTidied = false
  }

  private let open: Opener
  private let prepare: Preparation
  private let size: Int
  private let state = Locked(State())

  /// The time that an idle connection stays open.
  private static let idleTime = Duration.seconds(60)
  private static let pauses = (first: Duration.milliseconds(20), longest: Duration.seconds(1))

  init(size: Int, open: @escaping Opener, prepare: @escaping Preparation) {
    self.open = open
    self.prepare = prepare
    self.size = size
  }

  /// Runs `work` with a connection and returns its result.
  ///
  /// The wait for a connection and the statements of `work` end within `limit`, not counting the
  /// time to connect. After a failure that may be temporary, the pool runs `work` again for
  /// `retryTime`; the last attempt may end later. `work` may run again even if the server has
  /// already executed its statements, because a connection may break before the answer arrives. A
  /// cancelled caller still waits for the end.
  func run<Value>(
    within limit: Duration, retryingFor retryTime: Duration,
    _ work: (Connection, ContinuousClock.Instant) async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    var deadline = ContinuousClock.now + limit
    let end = ContinuousClock.now + min(retryTime, limit)
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
        return try await work(opened, deadline)
      } catch {
        let failure = error.cause as? PostgreSQLError
        if failure?.endsConnection ?? false || connection?.isAtRest == false { connection = nil }
        let isLate = ContinuousClock.now + pause >= end
        guard failure?.isPassing ?? false, !isLate, state.withLock(\.hasConnected),
          let loop = EventLoop.shared
        else { throw error }
        // The first new attempt follows at once: an idle connection may have broken long ago. Later
        // pauses are random, so that hosts do not all connect at the same time.
        let wait = pause * Double.random(in: 0.5...1)
        if wait > .zero { _ = await SocketWait(until: Monotonic.after(wait), on: loop).result() }
        pause = min(max(pause * 2, Self.pauses.first), Self.pauses.longest)
      }
    }
  }

  private func connect() async throws(SQOAuthError) -> Connection {
    try await AccountDatabase.onThread { [self] () throws(SQOAuthError) in
      let connection = try open()
      state.withLock { $0.hasConnected = true }
      try prepare(connection)
      return connection
    }
  }

  // MARK: Places

  /// Waits for a place in the pool; returns `nil` if none was free by the deadline.
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

  /// Ends the waits whose deadlines have passed; returns when to do so again.
  private func endWaits() -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    let (late, next) = state.withLock { state in
      // All calls have the same limit, so their deadlines are in order of arrival.
      let late = state.waiting.prefix { $0.deadline <= now }
      state.waiting.removeFirst(late.count)
      let next = state.waiting.first?.deadline
      state.isWatched = next != nil
      return (late, next)
    }
    for waiter in late { waiter.turn.resolve(nil) }
    return next
  }

  /// Gives a place in the pool to the next waiting call, or keeps its connection for a later call.
  ///
  /// A connection that still runs a statement is closed; otherwise, another call would get the
  /// statement's answer.
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

  /// Closes connections that were idle for long; returns when to do so again.
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
    // The connections are closed here, outside the lock.
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

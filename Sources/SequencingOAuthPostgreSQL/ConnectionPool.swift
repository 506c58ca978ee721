import Basics
import Dispatch
import Glibc
import SequencingOAuth

/// The connections of a store, each on a thread of its own, which waits for the server.
///
/// A connection serves all accounts. The pool makes another one only while all others are busy, and
/// closes unused ones.
final class ConnectionPool: Sendable {
  /// Gives a result to the caller.
  typealias Reply = @Sendable () -> Void

  /// A call that needs a connection.
  struct Job: Sendable {
    /// When the caller gets an error if the call has not ended; statements end by then.
    let deadline: ContinuousClock.Instant
    /// Until when the call is repeated after a failure that may pass.
    let retriesUntil: ContinuousClock.Instant
    /// Does the work, and returns what gives its result to the caller.
    let work: @Sendable (Connection) throws(SQOAuthError) -> Reply
    let fail: @Sendable (SQOAuthError) -> Void
  }

  /// One thread and its place in the pool.
  private final class Worker: Sendable {
    let bell = DispatchSemaphore(value: 0)
    let job = Locked<Job?>(nil)
  }

  private struct State {
    /// The calls for which all connections are too busy.
    var waiting: [Job] = []
    /// The workers without a call; the last to become idle gets the next call.
    var idle: [Worker] = []
    var count = 0
    /// Whether a connection could ever be made; until then a call fails at once.
    var hasConnected = false
    var isClosed = false
  }

  private let settings: ConnectionSettings
  private let size: Int
  private let state = Locked(State())

  /// How long a connection stays open without a call.
  private static let idleTime = DispatchTimeInterval.seconds(60)
  private static let pauses = (first: Duration.milliseconds(20), longest: Duration.seconds(1))

  init(_ settings: ConnectionSettings, size: Int) {
    self.settings = settings
    self.size = size
  }

  /// Runs work with a connection and returns its result.
  ///
  /// The work may run several times, since a connection may break after the server did what it was
  /// asked. A cancelled caller still waits for the end.
  func run<Value: Sendable>(
    within limit: Duration, retryingFor patience: Duration,
    _ work: @escaping @Sendable (Connection, ContinuousClock.Instant) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let result = OneShot<Result<Value, SQOAuthError>>()
    let now = ContinuousClock.now
    let deadline = now + limit
    submit(
      Job(
        deadline: deadline, retriesUntil: now + patience,
        work: { connection throws(SQOAuthError) in
          let value = try work(connection, deadline)
          return { result.resolve(.success(value)) }
        },
        fail: { result.resolve(.failure($0)) }))
    return try await result.wait().get()
  }

  /// Ends the idle threads, and the busy ones after their calls.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for worker in idle { worker.bell.signal() }
  }

  private func submit(_ job: Job) {
    let new = state.withLock { state -> Worker? in
      if let worker = state.idle.popLast() {
        worker.job.withLock { $0 = job }
        worker.bell.signal()
        return nil
      }
      guard state.count < size else {
        state.waiting.append(job)
        return nil
      }
      state.count += 1
      return Worker()
    }
    guard let new else { return }
    new.job.withLock { $0 = job }
    guard Threads.start({ self.serve(new) }) else {
      state.withLock { $0.count -= 1 }
      job.fail(SQOAuthError(.storeFailed, "the system has no thread for the token database"))
      return
    }
  }

  // MARK: On a worker's thread

  private func serve(_ worker: Worker) {
    var connection: Connection?
    var reply: Reply = {}
    while let job = next(worker, after: reply) { reply = perform(job, &connection) }
  }

  /// Replies to the last call and waits for another one; returns `nil` when the thread shall end.
  private func next(_ worker: Worker, after reply: Reply) -> Job? {
    if let job = takeJob(of: worker) { return job }
    let isIdle = state.withLock { state -> Bool in
      if !state.waiting.isEmpty {
        worker.job.withLock { $0 = state.waiting.removeFirst() }
        return false
      }
      guard !state.isClosed else { return false }
      state.idle.append(worker)
      return true
    }
    // The caller's next call then finds this connection idle.
    reply()
    if isIdle { _ = worker.bell.wait(timeout: .now() + Self.idleTime) }
    return state.withLock { state in
      // After the idle time a call may just have come.
      if let job = takeJob(of: worker) { return job }
      state.idle.removeAll { $0 === worker }
      state.count -= 1
      return nil
    }
  }

  private func takeJob(of worker: Worker) -> Job? {
    worker.job.withLock { job in
      defer { job = nil }
      return job
    }
  }

  private func perform(_ job: Job, _ connection: inout Connection?) -> Reply {
    var pause = Duration.zero
    while true {
      do throws(SQOAuthError) {
        return try job.work(try connected(&connection))
      } catch {
        let failure = error.cause as? PostgreSQLError
        if failure?.endsConnection ?? false { connection = nil }
        let isLate = ContinuousClock.now + pause >= min(job.retriesUntil, job.deadline)
        guard failure?.isPassing ?? false, !isLate, state.withLock({ $0.hasConnected }) else {
          return { job.fail(error) }
        }
        // The first new attempt is made at once: an idle connection may have broken long ago.
        _ = poll(nil, 0, Int32(pause / .milliseconds(1)))
        pause = min(max(pause * 2, Self.pauses.first), Self.pauses.longest)
      }
    }
  }

  private func connected(_ connection: inout Connection?) throws(SQOAuthError) -> Connection {
    if let connection { return connection }
    do throws(PostgreSQLError) {
      let new = try Connection(settings)
      connection = new
      state.withLock { $0.hasConnected = true }
      return new
    } catch {
      throw error.reported
    }
  }
}

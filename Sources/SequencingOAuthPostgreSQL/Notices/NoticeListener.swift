import SQBasics
import SQFoundation
import SequencingOAuth

/// A task that sends notices and receives the notices of other hosts, on its own connection.
///
/// Because a notice may be lost, it also compares the versions of the observed accounts after each
/// new connection and every 30 s. Through a connection pooler, it receives no notices and compares
/// versions every 5 s.
final class NoticeListener: Sendable {
  private let notices: AccountNotices
  private let settings: ConnectionSettings
  private let statements: AccountStatements
  private let state = Locked(State())

  private struct State {
    /// Whether notices of other hosts arrive.
    var hears = false
    /// Whether ``NoticeListener/wake()`` was called since the last wait.
    var isWoken = false
    /// What the task waits for; `nil` while it works.
    var wait: SocketWait?
  }

  /// The time between two comparisons of versions: with notices, and without.
  private static let periods = (listening: Duration.seconds(30), polling: Duration.seconds(5))
  /// The time limit of one statement.
  private static let limit = Duration.seconds(10)
  /// The number of accounts to compare with one statement.
  private static let pageSize = 1000
  private static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(5))

  init(
    _ notices: AccountNotices, _ settings: ConnectionSettings, _ statements: AccountStatements
  ) {
    self.notices = notices
    self.settings = settings
    self.statements = statements
  }

  var isListening: Bool { state.withLock(\.hears) }

  /// Starts the task.
  func start() {
    Task { await run() }
  }

  /// Wakes up the task, so that it sends new notices or ends.
  func wake() {
    let wait = state.withLock { state in
      state.isWoken = true
      return state.wait
    }
    wait?.end()
  }

  // MARK: The task

  private func run() async {
    var pause = Self.pauses.first
    while notices.mayListen() {
      do throws(PostgreSQLError) {
        let connection = try await connect()
        state.withLock { $0.hears = !connection.isPooled }
        try await serve(connection, &pause)
      } catch {
        state.withLock { $0.hears = false }
        notices.didFail()
        await sleep(until: .now + pause * Double.random(in: 0.5...1))
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
    state.withLock { $0.hears = false }
  }

  private func connect() async throws(PostgreSQLError) -> Connection {
    let opened = await Threads.run { [settings] in
      Result { () throws(PostgreSQLError) in try Connection(settings) }
    }
    guard let connection = try opened?.get() else { throw .noLoop }
    if !connection.isPooled {
      try await connection.answer(script: statements.notices.listen, until: .now + Self.limit)
    }
    return connection
  }

  /// Compares versions and handles notices until the connection breaks or the listener must end.
  ///
  /// Resets the pause before the next connection once the server has executed the statements. A
  /// server may accept each login and refuse each statement.
  private func serve(
    _ connection: Connection, _ pause: inout Duration
  ) async throws(PostgreSQLError) {
    while true {
      try await compare(connection)
      let period = isListening ? Self.periods.listening : Self.periods.polling
      // Random, so that hosts do not all compare at the same time.
      let next = ContinuousClock.now + period * Double.random(in: 0.8...1)
      while ContinuousClock.now < next {
        // Notices that arrive during the announcement are read together with its answer, and the
        // socket then has nothing to read. So handle them after the announcement, before the wait.
        try await announce(on: connection)
        pause = Self.pauses.first
        for text in try connection.notifications() { notices.hear(Notice(text)) }
        guard notices.mayListen() else { return }
        let end = min(next, notices.announcesAt ?? next)
        await result(of: connection.waitForNotifications(until: end))
      }
    }
  }

  private func announce(on connection: Connection) async throws(PostgreSQLError) {
    guard let notice = notices.takeForListener() else { return }
    do throws(PostgreSQLError) {
      _ = try await connection.answer(
        statements.notices.announce, [.text(statements.notices.channel), .text(notice.text)],
        until: .now + Self.limit)
      notices.didSend(nil)
    } catch {
      notices.didSend(notice)
      throw error
    }
  }

  private func compare(_ connection: Connection) async throws(PostgreSQLError) {
    let ids = notices.observedIDs
    for start in stride(from: 0, to: ids.count, by: Self.pageSize) {
      let page = Array(ids[start..<min(start + Self.pageSize, ids.count)])
      var versions = TextDictionary<Int64>()
      let array = SQLValue.array(page.map { Data($0.utf8) })
      let rows = try await connection.answer(
        statements.notices.versions, [array], until: .now + Self.limit)
      for row in rows {
        if let id = row.text(0) { versions[id] = row.integer(1) }
      }
      notices.compare(page, with: versions)
    }
  }

  private func sleep(until end: ContinuousClock.Instant) async {
    guard let loop = EventLoop.shared else {
      try? await Task.sleep(until: end, clock: .continuous)
      return
    }
    await result(of: SocketWait(until: Monotonic.after(end - .now), on: loop))
  }

  /// Waits until `wait` ends; ``wake()`` ends it early.
  private func result(of wait: SocketWait) async {
    let isWoken = state.withLock { state in
      state.wait = wait
      defer { state.isWoken = false }
      return state.isWoken
    }
    if isWoken { wait.end() }
    _ = await wait.result()
    state.withLock { state in
      state.wait = nil
      state.isWoken = false
    }
  }
}

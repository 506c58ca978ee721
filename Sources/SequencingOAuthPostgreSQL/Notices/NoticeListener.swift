import Glibc
import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A thread with a connection that sends notices and receives those of other hosts.
///
/// Because a notice may be lost, it also compares the versions of the observed accounts after each
/// new connection and every 30 s. Through a connection pooler, it receives no notices and compares
/// versions every 5 s.
final class NoticeListener: Sendable {
  private let notices: AccountNotices
  private let settings: ConnectionSettings
  private let statements: AccountStatements
  /// Wakes up the thread when there is work.
  private let bell = Bell()
  private let hears = Locked(false)

  /// The time between two comparisons, on a connection that receives notices and on one that does
  /// not.
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

  var isListening: Bool { hears.withLock { $0 } }

  /// Starts the thread; returns `false` if the system cannot create one.
  func start() -> Bool { Threads.start { self.run() } }

  /// Wakes up the thread to check for work.
  func wake() { bell.ring() }

  // MARK: On the thread

  private func run() {
    var pause = Self.pauses.first
    while notices.mayListen() {
      do throws(PostgreSQLError) {
        let connection = try Connection(settings)
        if !connection.isPooled {
          try connection.run(script: "LISTEN \(statements.channel)", until: .now + Self.limit)
        }
        pause = Self.pauses.first
        hears.withLock { $0 = !connection.isPooled }
        try serve(connection)
      } catch {
        hears.withLock { $0 = false }
        notices.didFail()
        wait(for: nil, until: .now + pause * Double.random(in: 0.5...1))
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
    hears.withLock { $0 = false }
  }

  /// Compares versions and handles notices until the connection breaks or the listener must end.
  private func serve(_ connection: Connection) throws(PostgreSQLError) {
    while true {
      try compare(connection)
      let period = isListening ? Self.periods.listening : Self.periods.polling
      // Random, so that hosts do not all compare at the same time.
      let next = ContinuousClock.now + period * Double.random(in: 0.8...1)
      while ContinuousClock.now < next {
        // Notices that arrive during the announcement are read together with its answer, and the
        // socket then has nothing to read. So handle them after it and before the wait.
        try announce(on: connection)
        for text in try connection.notifications() { notices.hear(Notice(text)) }
        guard notices.mayListen() else { return }
        wait(for: connection.socket, until: min(next, notices.announcesAt ?? next))
      }
    }
  }

  private func announce(on connection: Connection) throws(PostgreSQLError) {
    guard let notice = notices.takeForListener() else { return }
    do throws(PostgreSQLError) {
      _ = try connection.run(
        statements.announce, [.text(statements.channel), .text(notice.text)],
        until: .now + Self.limit)
      notices.didSend(nil)
    } catch {
      notices.didSend(notice)
      throw error
    }
  }

  private func compare(_ connection: Connection) throws(PostgreSQLError) {
    let ids = notices.observedIDs
    for start in stride(from: 0, to: ids.count, by: Self.pageSize) {
      let page = Array(ids[start..<min(start + Self.pageSize, ids.count)])
      var versions = TextDictionary<Int64>()
      let array = SQLValue.array(page.map { Data($0.utf8) })
      for row in try connection.run(statements.versions, [array], until: .now + Self.limit) {
        if let id = row.text(0) { versions[id] = row.integer(1) }
      }
      notices.compare(page, with: versions)
    }
  }

  /// Waits for bytes from the server, for a wake-up or for a time.
  private func wait(for socket: Int32?, until end: ContinuousClock.Instant) {
    var polled = [pollfd(fd: bell.socket, events: Int16(POLLIN), revents: 0)]
    if let socket { polled.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
    let left = (end - .now) / .milliseconds(1)
    poll(&polled, nfds_t(polled.count), Int32(min(max(left.rounded(.up), 0), 60_000)))
    bell.silence()
  }
}

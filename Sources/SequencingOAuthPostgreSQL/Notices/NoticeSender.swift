import Basics
import SequencingOAuth

/// Tells other hosts which accounts this store has changed, a few times a second at most.
///
/// It never delays a save: PostgreSQL commits transactions with a notice one after the other. A
/// notice that cannot be sent is dropped, since other hosts also look by themselves.
final class NoticeSender: Sendable {
  private struct State {
    var names: Set<NoticeName> = []
    var isSending = false
  }

  /// The name by which this store recognizes its own notices.
  let origin = NoticeName("\(UInt64.random(in: .min ... .max))").text
  private let database: AccountDatabase
  private let state = Locked(State())

  /// How long changes are gathered for one notice.
  private static let delay = Duration.milliseconds(20)

  init(_ database: AccountDatabase) {
    self.database = database
  }

  /// Announces a change soon.
  func announce(_ id: String) {
    let begins = state.withLock { state in
      state.names.insert(NoticeName(id))
      defer { state.isSending = true }
      return !state.isSending
    }
    if begins { Task { await send() } }
  }

  private func send() async {
    while true {
      try? await Task.sleep(for: Self.delay)
      let names = take()
      if names.isEmpty { return }
      let notice = Notice(from: origin, names)
      try? await database.use { table throws(SQOAuthError) in try table.announce(notice) }
    }
  }

  /// Takes the names for one notice; without any, the sending ends.
  private func take() -> [NoticeName] {
    state.withLock { state in
      let names = Array(state.names.prefix(Notice.limit))
      state.names.subtract(names)
      if names.isEmpty { state.isSending = false }
      return names
    }
  }
}

import Basics
import SequencingOAuth

/// The accounts of which this process wants to know when another host changes them.
final class AccountNotices: Sendable {
  /// The number of an observer.
  typealias Observer = Int

  private struct Account {
    /// The version of the row as this process last saw it: `nil` if it does not know, and a `nil`
    /// in it if there was no row.
    var version: Int64??
    var observers: [Observer: @Sendable () -> Void] = [:]
  }

  private struct State {
    var accounts: [String: Account] = [:]
    var ids: [NoticeName: String] = [:]
    var lastObserver = 0
    var isClosed = false
    /// The thread that listens; `nil` while nothing is observed.
    var listener: NoticeListener?
  }

  private let settings: ConnectionSettings
  private let statements: AccountStatements
  private let origin: String
  private let state = Locked(State())

  /// Makes an empty collection; `origin` is the name in the notices of this process.
  init(
    _ settings: ConnectionSettings, _ statements: AccountStatements, origin: String
  ) {
    self.settings = settings
    self.statements = statements
    self.origin = origin
  }

  /// Whether notices arrive at once.
  ///
  /// They do not through a connection pooler, and not while the server cannot be reached.
  var areHeard: Bool { state.withLock { $0.listener?.isListening ?? false } }

  /// Calls a closure whenever an account may have changed, until ``end(_:of:)``.
  func observe(_ id: String, _ onChange: @escaping @Sendable () -> Void) -> Observer {
    let (observer, new) = state.withLock { state -> (Observer, NoticeListener?) in
      state.lastObserver += 1
      state.accounts[id, default: Account()].observers[state.lastObserver] = onChange
      state.ids[NoticeName(id)] = id
      guard state.listener == nil, !state.isClosed else { return (state.lastObserver, nil) }
      let new = NoticeListener(self, settings, statements)
      state.listener = new
      return (state.lastObserver, new)
    }
    // Without a thread, the next observer tries again.
    if let new, !new.start() { state.withLock { $0.listener = nil } }
    return observer
  }

  func end(_ observer: Observer, of id: String) {
    state.withLock { state in
      state.accounts[id]?.observers[observer] = nil
      guard state.accounts[id]?.observers.isEmpty ?? false else { return }
      state.accounts[id] = nil
      state.ids[NoticeName(id)] = nil
    }
  }

  /// Notes the version of an account's row; `nil` if there is none.
  func know(_ id: String, _ version: Int64?) {
    state.withLock { $0.accounts[id]?.version = .some(version) }
  }

  /// Ends the listening, for ever.
  func close() {
    let listener = state.withLock { state in
      state.isClosed = true
      return state.listener
    }
    listener?.wake()
  }

  // MARK: What the listener brings

  /// Whether the listener should go on; if not, the next observer starts another one.
  func mayListen() -> Bool {
    state.withLock { state in
      if state.isClosed || state.accounts.isEmpty { state.listener = nil }
      return state.listener != nil
    }
  }

  /// Passes a notice on to the observers of its accounts.
  func hear(_ notice: Notice) {
    guard notice.origin != origin else { return }
    let observers = state.withLock { state in
      notice.names.flatMap { name -> [@Sendable () -> Void] in
        guard let id = state.ids[name], let account = state.accounts[id] else { return [] }
        return Array(account.observers.values)
      }
    }
    for observer in observers { observer() }
  }

  var observedIDs: [String] { state.withLock { Array($0.accounts.keys) } }

  /// Compares what the database has of some accounts with what this process knows of them.
  func compare(_ ids: [String], with versions: [String: Int64]) {
    let observers = state.withLock { state in
      ids.flatMap { id -> [@Sendable () -> Void] in
        guard let account = state.accounts[id], account.version != .some(versions[id]) else {
          return []
        }
        return Array(account.observers.values)
      }
    }
    for observer in observers { observer() }
  }
}

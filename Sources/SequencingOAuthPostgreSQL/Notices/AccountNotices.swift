import SQBasics
import SequencingOAuth

/// The sender of this process's notices of changed accounts, and its observers of other hosts'
/// notices.
///
/// A notice never delays a save. PostgreSQL commits transactions with a notice one after the other,
/// so notices are sent on a separate connection, for several accounts at a time.
final class AccountNotices: Sendable {
  /// The number of an observer.
  typealias Observer = Int

  private struct Account {
    /// The version of the row as this process last saw it.
    ///
    /// The outer optional is `nil` if the process has not seen the row. The inner optional is
    /// `nil` if there was no row.
    var version: Int64??
    var observers: [Observer: @Sendable () -> Void] = [:]
  }

  private struct State {
    var accounts = TextDictionary<Account>()
    var ids: [NoticeName: String] = [:]
    var lastObserver = 0
    /// The accounts that this process has changed and not announced yet.
    var changed: Set<NoticeName> = []
    /// Resolved when the listener has sent its current notice; `nil` if it has none.
    var sending: OneShot<Void>?
    /// The earliest time of the next announcement.
    var announcesAt = ContinuousClock.now
    /// The time of the last observation or change.
    var lastUse = ContinuousClock.now
    var isClosed = false
    /// The task that announces and listens; `nil` while there is nothing to do.
    var listener: NoticeListener?
  }

  private let settings: ConnectionSettings
  private let statements: AccountStatements
  /// A random name by which this store recognizes its own notices.
  private let origin = NoticeName("\(UInt64.random(in: .min ... .max))").text
  private let state = Locked(State())

  /// The time between two announcements.
  private static let pause = Duration.milliseconds(20)
  /// The time that an unused connection stays open.
  private static let idleTime = Duration.seconds(60)
  /// The most changes to keep while the server cannot be reached.
  ///
  /// Other hosts find further changes when they next compare versions.
  private static let mostChanges = 10_000

  init(_ settings: ConnectionSettings, _ statements: AccountStatements) {
    self.settings = settings
    self.statements = statements
  }

  /// Whether notices of other hosts arrive at once.
  ///
  /// They do not arrive through a connection pooler or while the server cannot be reached.
  var areHeard: Bool { state.withLock { $0.listener?.isListening ?? false } }

  /// Calls a closure whenever an account may have changed, until ``end(_:of:)``.
  func observe(_ id: String, _ onChange: @escaping @Sendable () -> Void) -> Observer {
    let name = NoticeName(id)
    let (observer, new) = state.withLock { state -> (Observer, NoticeListener?) in
      state.lastObserver += 1
      state.accounts[id, default: Account()].observers[state.lastObserver] = onChange
      state.ids[name] = id
      return (state.lastObserver, newListener(&state))
    }
    new?.start()
    return observer
  }

  /// Announces a change to the other hosts soon.
  func announce(_ id: String) {
    let name = NoticeName(id)
    let (new, old) = state.withLock { state in
      // If earlier changes are still waiting, the listener already knows that it must send.
      let old = state.changed.isEmpty ? state.listener : nil
      if state.changed.count < Self.mostChanges { state.changed.insert(name) }
      return (newListener(&state), old)
    }
    new?.start()
    old?.wake()
  }

  private func newListener(_ state: inout State) -> NoticeListener? {
    state.lastUse = .now
    guard state.listener == nil, !state.isClosed else { return nil }
    let new = NoticeListener(self, settings, statements)
    state.listener = new
    return new
  }

  func end(_ observer: Observer, of id: String) {
    let name = NoticeName(id)
    // The closure is released after the lock, because it may hold the last reference to an object
    // of the app that calls the store in its deinit.
    let removed = state.withLock { state in
      let removed = state.accounts[id]?.observers.removeValue(forKey: observer)
      if state.accounts[id]?.observers.isEmpty ?? false {
        state.accounts[id] = nil
        state.ids[name] = nil
      }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Records the version of an account's row; `nil` if there is no row.
  func know(_ id: String, _ version: Int64?) {
    state.withLock { $0.accounts[id]?.version = .some(version) }
  }

  /// Forgets the version of an account's row, so that the next comparison reports a change.
  func forget(_ id: String) {
    state.withLock { $0.accounts[id]?.version = nil }
  }

  /// Stops listening for good, after one attempt to send the pending notices.
  func close() {
    let listener = state.withLock { state in
      state.isClosed = true
      return state.listener
    }
    listener?.wake()
  }

  // MARK: For the listener

  /// Returns whether the listener should continue; if not, the next use starts a new listener.
  func mayListen() -> Bool {
    state.withLock { state in
      let isIdle = state.accounts.isEmpty && .now - state.lastUse > Self.idleTime
      if state.changed.isEmpty && (state.isClosed || isIdle) { state.listener = nil }
      return state.listener != nil
    }
  }

  /// Records that the server cannot be reached; a closed store then drops its pending notices.
  func didFail() {
    state.withLock { if $0.isClosed { $0.changed = [] } }
  }

  /// The time to send the next notice; `nil` if there is none.
  var announcesAt: ContinuousClock.Instant? {
    state.withLock { $0.changed.isEmpty ? nil : $0.announcesAt }
  }

  /// Removes and returns the next notice, if it is due or if `isUrgent` is set.
  func takeNotice(now isUrgent: Bool = false) -> Notice? {
    state.withLock { state -> Notice? in
      guard !state.changed.isEmpty, isUrgent || state.announcesAt <= .now else { return nil }
      let names = Array(state.changed.prefix(Notice.limit))
      state.changed.subtract(names)
      state.announcesAt = .now + Self.pause
      return Notice(from: origin, names)
    }
  }

  /// Removes and returns the next notice for the listener, which must then call ``didSend(_:)``.
  func takeForListener() -> Notice? {
    state.withLock { if $0.sending == nil { $0.sending = OneShot() } }
    let notice = takeNotice(now: state.withLock(\.isClosed))
    if notice == nil { didSend(nil) }
    return notice
  }

  /// Records that the listener has sent a notice; a notice that it could not send is put back.
  func didSend(_ failed: Notice?) {
    if let failed { putBack(failed) }
    state.withLock { $0.sending.take() }?.resolve(())
  }

  /// Waits until the listener has sent its current notice, or until a deadline.
  func sent(until deadline: ContinuousClock.Instant) async {
    _ = await state.withLock(\.sending)?.wait(until: deadline)
  }

  /// Puts back a notice that could not be sent.
  func putBack(_ notice: Notice) {
    state.withLock { $0.changed.formUnion(notice.names) }
  }

  /// Calls the observers of a notice's accounts, unless this store sent the notice.
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

  var observedIDs: [String] { state.withLock { $0.accounts.texts } }

  /// Calls the observers of accounts whose versions in the database differ from the known ones.
  func compare(_ ids: [String], with versions: TextDictionary<Int64>) {
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

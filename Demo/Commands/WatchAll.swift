import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthBackend

/// The command `watch --all`: keeps all tokens of a store valid and prints a line per event.
struct WatchAll: Sendable {
  let account: AccountOptions
  let printsJSON: Bool

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    guard let opened = try await account.store.openIfThere(console) else {
      throw try await account.choice.isMissing(in: nil)
    }
    // The first call shows whether the store can be read at all.
    _ = try await opened.attempt { try await $0.load("") }
    console.progress(
      "Keeping the tokens of all accounts fresh, in "
        + "\(await opened.place ?? account.store.emptyPlace). Ctrl-C ends the command.")
    let manager = AccountManager(
      store: opened.store, environment: console.environment)
    let unusable = Locked<Set<String>>([])
    let keeper = manager.keepFresh { [account] record in
      let configuration = Self.configuration(of: record, account, console)
      unusable.withLock { ids in
        _ = configuration == nil ? ids.insert(record.id).inserted : ids.remove(record.id) != nil
      }
      return configuration
    }
    var failure: Failure?
    for await event in keeper.events() {
      do throws(Failure) {
        try report(event, console)
      } catch {
        failure = error
        break
      }
    }
    await console.tellingOfLastWait { await keeper.stop() }
    if let failure { throw failure }
    if console.output.isTerminal, !printsJSON { try console.result("") }
    console.progress(Self.summary(keeper.totals, unusable: unusable.withLock(\.count)))
  }

  /// Returns the client of an account; warns and returns `nil` if the client cannot be used.
  ///
  /// For example, the file of the client's key may be missing, or the options may name another
  /// client. The command then continues with the other accounts.
  private static func configuration(
    of record: AccountRecord, _ account: AccountOptions, _ console: Console
  ) -> ClientConfiguration? {
    do throws(Failure) {
      try account.checkIsNamed(record)
      try account.checkBinds(record)
      let options = try account.completed(by: record)
      if let key = options.key, key.isLocked { throw key.needsPassphrase }
      // Otherwise the keeper would try such an account every few seconds, and fail each time.
      if let client = options.configuration { try account.check(record, isOf: client) }
      return options.configuration
    } catch {
      console.warn("account \(record.id.onScreen): \(error.code): \(error.message)")
      return nil
    }
  }

  private func report(_ event: AccountKeeper.Event, _ console: Console) throws(Failure) {
    let now = Date()
    guard !printsJSON else { return try console.result(try oneLineOfJSON(KeptReport(event, now))) }
    switch event {
    case .refreshed(let id):
      try console.result("refreshed \(now.formatted(.iso8601)), account \(id.onScreen)")
    case .takenOver(let id):
      try console.result("taken over \(now.formatted(.iso8601)), account \(id.onScreen)")
    case .failed(let id, let error):
      console.warn(
        "account \(id.onScreen): \(error.code.rawValue.onScreen): \(Failure(error).advised)")
    case .ended(let id, _):
      console.warn(
        "account \(id.onScreen): the session has ended; '\(account.store.signInCommand(id))' signs "
          + "in again")
    case .paused(let server, let time):
      console.warn(
        "for \(Self.seconds(time)) s, no account of a client at \(server.onScreen) is refreshed")
    case .storeFailed(let error):
      console.warn("\(error.code.rawValue.onScreen): \(Failure(error).advised)")
    }
  }

  private static func summary(_ totals: AccountKeeper.Totals, unusable: Int) -> String {
    "Refreshed \(totals.refreshed), taken over \(totals.takenOver), failed \(totals.failed), "
      + "ended \(totals.ended)" + (unusable > 0 ? ", could not be used \(unusable)." : ".")
  }

  fileprivate static func seconds(_ time: Duration) -> Int {
    Int((time / .seconds(1)).rounded(.up))
  }
}

/// An event of `watch --all` as JSON for a program.
private struct KeptReport: Encodable {
  private var event = "refreshed"
  private let at: String
  private var account: String?
  private var error: String?
  private var server: String?
  private var seconds: Int?

  init(_ event: AccountKeeper.Event, _ date: Date) {
    at = date.formatted(.iso8601)
    switch event {
    case .refreshed(let id):
      account = id
    case .takenOver(let id):
      (self.event, account) = ("taken_over", id)
    case .failed(let id, let error):
      (self.event, account, self.error) = ("failed", id, error.code.rawValue)
    case .ended(let id, let error):
      (self.event, account, self.error) = ("ended", id, error.code.rawValue)
    case .paused(let server, let time):
      (self.event, self.server, seconds) = ("paused", server, WatchAll.seconds(time))
    case .storeFailed(let error):
      (self.event, self.error) = ("store_failed", error.code.rawValue)
    }
  }
}

import Foundation
import OAuthSandbox
import SQBasics

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

extension World {
  /// The error for a task that should end but does not.
  struct Stuck: Error, CustomStringConvertible {
    let description: String
  }

  // MARK: Rest

  /// Waits until nothing runs that could continue by itself.
  func quiet() async throws {
    gate.open()
    try await wait { self.isQuiet }
    await module.session.account.allMade()
    // All events are sent. The delegate has received them when its queue gets to this point.
    await withCheckedContinuation { heard in oauth.module.callbacks.inOrder { heard.resume() } }
    try await wait { self.delegate.events.count == self.stream.events.count }
    mayBeSigningIn = false
  }

  func wait(until isTrue: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    var turns = 0
    while !isTrue() {
      turns += 1
      if turns < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
      guard ContinuousClock.now < deadline else { throw Stuck(description: stuck) }
    }
  }

  private var isQuiet: Bool {
    callers.areDone && !oauth.isSigningIn && !isRenewing && !isDue
      && !module.session.isReporting
  }

  /// Whether the token is being changed.
  var isRenewing: Bool { module.session.decide { $0.changeUnderWay != nil } }

  /// Whether the timer has something to do now.
  var isDue: Bool { module.session.isDue }

  private var stuck: String {
    let session = module.session
    let words =
      "under way: \(String(describing: session.decide(\.changeUnderWay))), due: "
      + "\(String(describing: session.dueAt))"
    return "the schedule does not come to rest: callers \(callers.areDone ? "done" : "waiting"), "
      + "\(words), now \(clock.now), sleepers \(clock.sleepers), "
      + "told \(delegate.words) and \(stream.words)"
  }

  // MARK: What must hold

  /// Waits until nothing runs, and then checks the rules.
  func check() async throws {
    try await quiet()
    let (ends, isSignedIn) = (delegate.ends, oauth.result.token != nil)
    if delegate.words != stream.words {
      report.add("one observer was told \(delegate.words), another \(stream.words)")
    }
    // Each session reports its end exactly once. So the sessions at the last check, minus the ends
    // reported since then, must equal the sessions now.
    let told = ends - last.ends
    let before = last.isSignedIn ? 1 : 0
    if told > before + beginnings {
      report.add("\(told) ends were reported for \(before + beginnings) sessions")
    }
    if beginnings == 0, before - told != (isSignedIn ? 1 : 0) {
      report.add("signed in before: \(before), ends told: \(told), signed in now: \(isSignedIn)")
    }
    last = (ends, isSignedIn)
    let stored = await store.content()
    // The next caller may find a token that another process stored, and so begin a session.
    beginnings = !isSignedIn && stored != nil ? 1 : 0
    if !isSignedIn { owner = nil }
    if wire.wereTwoInFlight { report.add("two refreshes were in flight at once") }
    checkReuse()
    if let stored { checkNewest(stored) }
  }

  private func checkReuse() {
    let reuses = sandbox.refreshTokenReuses
    if reuses > wire.resends { report.add("the server detected \(reuses) reuses") }
  }

  /// Checks that the store has the newest tokens unless the server's answer was lost.
  private func checkNewest(_ stored: SQToken) {
    guard module.session.unsavedError == nil, module.session.account.failedErase == nil,
      let token = stored.refreshToken
    else { return }
    if sandbox.latestRefreshToken(inFamilyOf: token) != token,
      !wire.mayHaveLostSuccessor(of: token)
    {
      report.add("the stored refresh token is not the newest")
    }
  }

  // MARK: The end

  /// Checks that the session works or has reported its end, and then ends it.
  func end() async throws {
    set(.works)
    try await check()
    sandbox.behave()
    pass(100_000)
    try await check()
    // This refresh reads the store, so the program finds another program's changes.
    _ = try? await module.refresh()
    try await check()
    pass(100_000)
    try await check()
    if oauth.result.token?.refreshToken != nil { try await checkThatItWorks() }
    try await close()
    try await checkThatNothingHappens()
    callers.finish()
  }

  private func checkThatItWorks() async throws {
    let response: WebResponse
    do throws(SQOAuthError) {
      response = try await module.send(WebRequest(url: sandbox.url(.me)))
    } catch {
      try await check()
      if oauth.result.token != nil { report.add("a session exists but does not work: \(error)") }
      return
    }
    if let owner, !response.text.contains("\"\(owner)\"") {
      report.add("\(owner) is signed in, and the API says \(response.text)")
    }
    try await check()
    let stored = await store.content()
    if stored?.refreshToken != oauth.result.token?.refreshToken {
      report.add("the store has another refresh token than the session")
    }
  }

  private func close() async throws {
    let (before, isSignedIn) = (delegate.ends, oauth.result.token != nil)
    // The server can refuse a session only at a refresh, so the session needs a refresh token.
    let isRenewable = oauth.result.token?.refreshToken != nil
    switch isRenewable || schedule.ending != .refused ? schedule.ending : .signedOut {
    case .working: return
    case .refused:
      sandbox.revokeEverything()
      let module = module
      for _ in 0..<8 { callers.start(.refresh) { try await module.refresh() } }
    case .signedOut:
      oauth.userDidSignOut()
      oauth.userDidSignOut()
    case .revoked: try await module.revoke()
    }
    try await quiet()
    if delegate.ends != before + (isSignedIn ? 1 : 0) || oauth.result.token != nil {
      report.add("\(schedule.ending) ended the session \(delegate.ends - before) times")
    }
    if isSignedIn, await store.content() != nil { report.add("an end left a token in the store") }
    last = (delegate.ends, false)
  }

  /// Checks that no timer runs after the session's end, and that a new sign-in works.
  private func checkThatNothingHappens() async throws {
    if oauth.result.token == nil {
      let count = wire.count
      pass(1_000_000)
      try await quiet()
      try await wait { self.clock.sleepers == 0 }
      if wire.count != count { report.add("an ended session is renewed") }
    }
    await signIn(.alice)
    owner = "alice"
    try await check()
    try await checkThatItWorks()
    if oauth.result.token == nil { report.add("a sign-in does not work any more") }
  }
}

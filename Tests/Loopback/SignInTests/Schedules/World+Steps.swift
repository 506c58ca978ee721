import Foundation
import OAuthSandbox
import SQBasics

@testable import SequencingOAuth
@testable import TestSupport

extension World {
  func play(_ step: Schedule.Step) async throws {
    report.note("- \(Schedule.plain("\(step)"))")
    switch step {
    case .call(let call, let count): for _ in 0..<count { start(call) }
    case .cancel(let count): callers.cancel(count)
    case .invalidate: module.invalidateAccessToken()
    case .trouble(let trouble, let times):
      sandbox.misbehave(at: .token, trouble.misbehaviour, times: times)
    case .refusal(let times): sandbox.misbehave(at: .me, .status(401), times: times)
    case .stall:
      gate.close()
      sandbox.misbehave(at: .token, .hold(until: { [gate] in await gate.opened() }))
    case .release: gate.open()
    case .expire: sandbox.expireAccessTokens()
    case .pass(let seconds): pass(seconds)
    case .jump(let seconds):
      // If the clock went back too soon, the test would miss a timer that is due but has not
      // started its renewal.
      if seconds < 0 { try await wait { !self.isDue || self.isRenewing } }
      wire.move { clock.advance(by: seconds) }
    case .timer(let isOn): module.refreshesAutomatically = isOn
    case .store(let state): set(state)
    case .signIn(let user): await signIn(user)
    case .signInAndOut(let user): await signInAndOut(user)
    case .signOut: try await signOut()
    case .flush: try await check()
    case .yield(let times): for _ in 0..<times { await Task.yield() }
    case .launch(let kept): try await launch(kept)
    case .elsewhere(let doing): try await elsewhere(doing)
    }
  }

  // MARK: Callers

  private func start(_ call: Schedule.Call) {
    let (oauth, module) = (oauth, module)
    let me = WebRequest(url: sandbox.url(.me))
    switch call {
    case .token: callers.start(call) { try await oauth.token() }
    case .completion: callers.start(call) { oauth.token($0) }
    case .refresh: callers.start(call) { try await module.refresh() }
    case .authenticate:
      callers.start(call) {
        _ = try await module.authenticate(me)
        return nil
      }
    case .send:
      callers.start(call) { [report] in
        let response = try await module.send(me)
        if response.status != 200 { report.add("send returned status \(response.status)") }
        return nil
      }
    case .requestAccess:
      beginnings += 1
      mayBeSigningIn = true
      owner = nil
      callers.start(call) { try await module.requestAccess() }
    }
  }

  // MARK: Time and the store

  func pass(_ seconds: Double) {
    sandbox.advance(by: .seconds(seconds))
    wire.move { clock.advance(by: seconds) }
  }

  func set(_ state: Schedule.Store) {
    switch state {
    case .works: store.scripted.fails()
    case .cannotLoad: store.scripted.fails(toLoad: true)
    case .cannotSave: store.scripted.fails(toSave: true)
    case .cannotErase: store.scripted.fails(toErase: true)
    case .fails: store.scripted.fails(toLoad: true, toSave: true, toErase: true)
    }
  }

  // MARK: Signing in and out

  func signIn(_ user: Schedule.User) async {
    gate.open()
    beginnings += 1
    do throws(SQOAuthError) {
      try await module.requestAccessToken(
        username: "\(user)", password: "\(user)-password", scope: "profile")
      owner = mayBeSigningIn ? nil : "\(user)"
    } catch {
      // If only the save of the new token failed, the user is signed in all the same.
      if error.code == .storeFailed, holdsToken(of: user) {
        owner = mayBeSigningIn ? nil : "\(user)"
      }
      if error.code == .cancelled { report.add("a sign-in was cancelled: \(error)") }
    }
  }

  private func holdsToken(of user: Schedule.User) -> Bool {
    guard let token = oauth.result.token?.refreshToken else { return false }
    return token == sandbox.latestRefreshToken(for: "\(user)")
  }

  /// Begins a sign-in and signs out at once.
  ///
  /// The sign-in must leave no session.
  private func signInAndOut(_ user: Schedule.User) async {
    gate.open()
    beginnings += 1
    let module = module
    let signIn = begin {
      try await module.requestAccessToken(
        username: "\(user)", password: "\(user)-password", scope: "profile")
    }
    let erase = module.forgetSession()
    owner = nil
    _ = await (signIn.result, erase.value)
    if oauth.result.token != nil, !mayBeSigningIn {
      report.add("a sign-in outlived the sign-out that came after it")
    }
  }

  private func signOut() async throws {
    if !mayBeSigningIn, callers.areDone { try await check() }
    oauth.userDidSignOut()
    if oauth.result.token != nil, !mayBeSigningIn { report.add("a sign-out left the token") }
    owner = nil
  }

  // MARK: Programs

  /// Stops the timer and returns whether everything is stored.
  ///
  /// Another program, or this program after a restart, knows only what is stored. With a running
  /// timer, two programs could send the same refresh token at the same time.
  private func isAllStored() async throws -> Bool {
    try await check()
    module.refreshesAutomatically = false
    try await check()
    return module.session.unsavedError == nil && module.session.account.failedErase == nil
  }

  private func launch(_ kept: Schedule.Kept) async throws {
    set(.works)
    let isUpdating = module.refreshesAutomatically
    defer { module.refreshesAutomatically = isUpdating }
    guard try await isAllStored() else { return }
    let stored = await store.content()
    try relaunch()
    beginnings = 1
    guard let stored else { return }
    let copy: SQToken? =
      switch kept {
      case .nothing: nil
      case .newest: stored
      case .outdated: store.history.last { $0.isOutdated(beside: stored) }
      }
    if let copy { oauth.launchTokenTimerUpdate(with: copy) }
  }

  private func elsewhere(_ doing: Schedule.Elsewhere) async throws {
    set(.works)
    let isUpdating = module.refreshesAutomatically
    defer { module.refreshesAutomatically = isUpdating }
    guard try await isAllStored() else { return }
    sandbox.behave()
    switch doing {
    case .refresh: _ = try? await other.refresh()
    case .signIn:
      try await other.requestAccessToken(
        username: "bob", password: "bob-password", scope: "profile")
      owner = "bob"
      beginnings += 1
    case .signOut:
      try await other.signOut()
      owner = nil
    case .race: try await race()
    }
  }

  /// Lets the other program refresh a token while the server rejects this program's refresh.
  private func race() async throws {
    // After this time, no delay after a failure is active. Then both programs get the newest token.
    pass(100_000)
    try await check()
    guard (try? await module.refresh()) != nil, (try? await other.token()) != nil else { return }
    try await check()
    let ends = delegate.ends
    let count = sandbox.requests(to: .token).count
    gate.close()
    sandbox.misbehave(
      at: .token, .hold(until: { [gate] in await gate.opened() }, then: .error("invalid_grant")))
    let (module, mine) = (module, oauth.result.token)
    for _ in 0..<3 { callers.start(.refresh) { try await module.refresh() } }
    _ = try await sandbox.requests(to: .token, atLeast: count + 1)
    var theirs = try await other.refresh()
    // If the other program has only adopted the stored token, it refreshes now.
    if theirs.accessToken == mine?.accessToken { theirs = try await other.refresh() }
    gate.open()
    try await quiet()
    if oauth.result.token?.accessToken != theirs.accessToken || delegate.ends != ends {
      report.add("a refusal ended the session, though the store had a newer token")
    }
  }
}

extension SQToken {
  /// Returns whether this token is older than the stored one, by its date.
  fileprivate func isOutdated(beside stored: SQToken) -> Bool {
    stored.isYounger(than: self)
  }
}

extension RefreshRecorder {
  /// How often a session ended.
  var ends: Int { words.count { $0.hasPrefix("ended") } }
}

import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Random actions of server, browser, user, app and clock.
///
/// Each sign-in ends exactly once.
@Suite(.timeLimit(.minutes(5))) struct OutcomeFuzzTests {
  enum Step: CaseIterable {
    case right, denied, serverError, noCode, wrongState, noState, elsewhere, doubled
    case cancel, signOut, advanceABit, advanceBeyond, joinPlainly, joinAndLeave, join, yield
  }

  static let answers: [ScriptedTransport.Answer] = [
    ScriptedTransport.token(), ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400),
    ScriptedTransport.json("{"), { _ in WebResponse(status: 500) },
    { _ in WebResponse(status: 302) }, { _ in throw URLError(.timedOut) },
    { _ in throw CancellationError() },
    { _ in
      await Task.yield()
      return try await ScriptedTransport.token()(
        WebRequest(url: URL(filePath: "/")))
    },
  ]

  static func play(_ step: Step, on fixture: OAuthFixture, page: AuthorizationURL) async throws {
    let oauth = fixture.oauth
    switch step {
    case .right: oauth.handleRedirect(try page.redirect("code=abc"))
    case .denied: oauth.handleRedirect(try page.redirect("error=access_denied"))
    case .serverError: oauth.handleRedirect(try page.redirect("error=server_error"))
    case .noCode: oauth.handleRedirect(try page.redirect(""))
    case .wrongState: oauth.handleRedirect(try page.forged("code=a&state=wrong"))
    case .noState: oauth.handleRedirect(try page.forged("error=access_denied"))
    case .elsewhere: oauth.handleRedirect(URL(filePath: "/etc/passwd"))
    case .doubled: oauth.handleRedirect(try page.redirect("code=a&code=b"))
    case .cancel: oauth.cancelSignIn()
    case .signOut: oauth.userDidSignOut()
    case .advanceABit: fixture.clock.advance(by: 10)
    case .advanceBeyond: fixture.clock.advance(by: 1_000)
    case .joinPlainly: oauth.authorizeUser()
    case .join: Task { try await oauth.signIn() }
    case .joinAndLeave:
      let task = Task { try await oauth.signIn() }
      task.cancel()
    case .yield: await Task.yield()
    }
  }

  /// Runs a sign-in with random steps, and checks that it returns once and is reported once.
  static func run(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let steps = (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in
      // A step that joins after the end would start a new sign-in. Another test covers joining.
      Step.allCases.filter { ![.join, .joinAndLeave, .joinPlainly].contains($0) }
        .randomElement(using: &generator)
    }
    let answer = answers.randomElement(using: &generator) ?? ScriptedTransport.token()
    let failsToOpen = Int.random(in: 0..<12, using: &generator) == 0
    let browserIsDone = Locked(false)
    let fixture = try OAuthFixture(
      answer: answer,
      browser: { fixture, page in
        defer { browserIsDone.withLock { $0 = true } }
        if failsToOpen { throw URLError(.unknown) }
        // A sign-in that has ended cancels its browser.
        for step in steps where !Task.isCancelled { try await play(step, on: fixture, page: page) }
      }
    ).register()
    // If the steps do not end the sign-in, its time limit does.
    let end = Task {
      try await eventually {
        fixture.clock.advance(by: 1_000)
        return false
      }
    }
    let outcome = await outcome(of: fixture.oauth)
    end.cancel()
    // Neither this task nor the remaining steps may reach into the next sign-in.
    _ = await end.result
    if !fixture.opened.isEmpty { try await eventually { browserIsDone.withLock(\.self) } }
    #expect(await fixture.delegate.events(1) == [outcome], "seed \(seed): \(steps)")

    // A further successful sign-in shows that the first one was reported once.
    fixture.http.answer(ScriptedTransport.token("after"))
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      fixture.oauth.handleRedirect(try AuthorizationURL(url).redirect("code=abc"))
    }
    #expect(try await fixture.oauth.signIn().accessToken == "after", "seed \(seed): \(steps)")
    #expect(
      await fixture.delegate.events(2) == [outcome, .authorized("after")], "seed \(seed): \(steps)")
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test(arguments: 0..<20)
  func `each of 500 random sign-ins ends exactly once`(block: UInt64) async throws {
    for seed in (block * 25)..<(block * 25 + 25) { try await Self.run(seed: seed) }
  }

  /// The ways in which a caller asks for a sign-in, cancels it, or leaves it.
  enum Caller: CaseIterable {
    case plain, cancels, waits, leaves

    func ask(_ oauth: SQOAuth) async -> RecordingDelegate.Event? {
      switch self {
      case .plain: oauth.authorizeUser()
      case .cancels: oauth.cancelSignIn()
      case .waits: return await OutcomeFuzzTests.outcome(of: oauth)
      case .leaves:
        let task = Task { await OutcomeFuzzTests.outcome(of: oauth) }
        task.cancel()
        return await task.value
      }
      return nil
    }
  }

  static func outcome(of oauth: SQOAuth) async -> RecordingDelegate.Event {
    do throws(SQOAuthError) {
      return .authorized(try await oauth.signIn().accessToken)
    } catch {
      return error.isCancellation ? .cancelled : .failed(error.code)
    }
  }

  /// Callers come and go, and each sign-in's token has its own name.
  @Test(arguments: 0..<100)
  func `callers that join a sign-in get the outcome that is reported to the delegate once`(
    seed: UInt64
  )
    async throws
  {
    var generator = SeededGenerator(seed: 1_000 + seed)
    let count = Locked(0)
    let fixture = try OAuthFixture(answer: { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return try await ScriptedTransport.token("T\(number)")(request)
    }).register()
    let callers = (0..<10).compactMap { _ in Caller.allCases.randomElement(using: &generator) }
    let outcomes = await withTaskGroup(of: RecordingDelegate.Event?.self) { group in
      for caller in callers { group.addTask { await caller.ask(fixture.oauth) } }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    try await eventually { !fixture.oauth.isSigningIn }
    let last = await Self.outcome(of: fixture.oauth)
    // The delegate is called in order: after the last call, no call for an earlier sign-in is
    // missing.
    try await eventually { fixture.delegate.events.last == last }
    let events = fixture.delegate.events
    let tokens = events.filter { $0 != .cancelled }
    #expect(last == events.last && last != .cancelled)
    #expect(
      Set(tokens.map { "\($0)" }).count == tokens.count, "a token is reported twice: \(events)")
    for outcome in outcomes where outcome != .cancelled {
      #expect(tokens.contains(outcome), "an outcome was not reported to the delegate: \(events)")
    }
    // Each sign-in that opened its browser is reported. A cancelled sign-in may be reported
    // although it opened none.
    let givenUp = callers.count { $0 == .cancels || $0 == .leaves }
    #expect(events.count >= fixture.opened.count, "\(events)")
    #expect(events.count <= fixture.opened.count + givenUp, "\(events)")
  }
}

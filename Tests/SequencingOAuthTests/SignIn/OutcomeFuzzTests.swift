import Foundation
import LoopbackHTTP
import SequencingOAuth
import TestSupport
import Testing

/// Whatever server, browser, user, app and clock do, each sign-in ends once.
@Suite(.timeLimit(.minutes(5))) struct OutcomeFuzzTests {
  /// SplitMix64: the same seed gives the same run.
  struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  enum Step: CaseIterable {
    case right, denied, serverError, noCode, wrongState, noState, elsewhere, doubled
    case cancel, signOut, advanceABit, advanceBeyond, joinPlainly, joinAndLeave, join, yield
  }

  static let answers: [ScriptedHTTPClient.Answer] = [
    ScriptedHTTPClient.token(), ScriptedHTTPClient.json(#"{"error":"invalid_grant"}"#, status: 400),
    ScriptedHTTPClient.json("{"), { _ in HTTPResponse(status: 500) },
    { _ in HTTPResponse(status: 302) }, { _ in throw URLError(.timedOut) },
    { _ in throw CancellationError() },
    { _ in
      await Task.yield()
      return try await ScriptedHTTPClient.token()(
        HTTPRequest(url: URL(filePath: "/")))
    },
  ]

  static func play(_ step: Step, on bench: Bench, page: AuthorizationURL) async throws {
    let oauth = bench.oauth
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
    case .advanceABit: bench.clock.advance(by: 10)
    case .advanceBeyond: bench.clock.advance(by: 1_000)
    case .joinPlainly: oauth.authorizeUser()
    case .join: Task { try await oauth.signIn() }
    case .joinAndLeave:
      let task = Task { try await oauth.signIn() }
      task.cancel()
    case .yield: await Task.yield()
    }
  }

  /// One sign-in by `authorize()`, with a random life; how often it returned and was told.
  static func run(seed: UInt64) async throws {
    var generator = Seeded(state: seed)
    let steps = (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in
      // Joining starts a new sign-in where the old one has ended, so it is played elsewhere.
      Step.allCases.filter { ![.join, .joinAndLeave, .joinPlainly].contains($0) }
        .randomElement(using: &generator)
    }
    let answer = answers.randomElement(using: &generator) ?? ScriptedHTTPClient.token()
    let failsToOpen = Int.random(in: 0..<12, using: &generator) == 0
    let browserIsDone = Locked(false)
    let bench = try Bench(
      answer: answer,
      browser: { bench, page in
        defer { browserIsDone.withLock { $0 = true } }
        if failsToOpen { throw URLError(.unknown) }
        // A sign-in that has ended cancels its browser.
        for step in steps where !Task.isCancelled { try await play(step, on: bench, page: page) }
      }
    ).register()
    // Whatever the steps left undone, the end of the time ends.
    let end = Task {
      try await eventually {
        bench.clock.advance(by: 1_000)
        return false
      }
    }
    let outcome: RecordingDelegate.Event
    do throws(SQOAuthError) {
      outcome = .authorized(try await bench.oauth.signIn().accessToken)
    } catch {
      outcome = error.isCancellation ? .cancelled : .failed(error.code)
    }
    end.cancel()
    // Neither this nor the steps that are left may reach into the next sign-in.
    _ = await end.result
    if !bench.opened.isEmpty { try await eventually { browserIsDone.withLock(\.self) } }
    #expect(await bench.delegate.events(1) == [outcome], "seed \(seed): \(steps)")

    // A further sign-in that succeeds finds one call for the first and makes one more.
    bench.http.answer(ScriptedHTTPClient.token("after"))
    bench.oauth.environment.userAgent = CustomUserAgent { url in
      bench.oauth.handleRedirect(try AuthorizationURL(url).redirect("code=abc"))
    }
    #expect(try await bench.oauth.signIn().accessToken == "after", "seed \(seed): \(steps)")
    #expect(
      await bench.delegate.events(2) == [outcome, .authorized("after")], "seed \(seed): \(steps)")
    #expect(!bench.oauth.isSigningIn)
  }

  @Test(arguments: 0..<20)
  func `each of 500 random lives ends exactly once`(block: UInt64) async throws {
    for seed in (block * 25)..<(block * 25 + 25) { try await Self.run(seed: seed) }
  }

  /// With callers that come and go: as many delegate calls as sign-ins, one end for each caller.
  @Test(arguments: 0..<100)
  func `callers that join and leave all return, and each sign-in is told once`(
    seed: UInt64
  ) async throws {
    var generator = Seeded(state: 1_000 + seed)
    let bench = try Bench().register()
    let plans = (0..<10).map { _ in Int.random(in: 0..<4, using: &generator) }
    let returned = await withTaskGroup(of: Int.self) { group in
      for plan in plans {
        group.addTask {
          switch plan {
          case 0: bench.oauth.authorizeUser()
          case 1: bench.oauth.cancelSignIn()
          case 2: _ = try? await bench.oauth.signIn()
          default:
            let task = Task { try? await bench.oauth.signIn() }
            task.cancel()
            _ = await task.value
          }
          return 1
        }
      }
      return await group.reduce(0, +)
    }
    #expect(returned == 10)
    try await eventually { !bench.oauth.isSigningIn }
    let token = try await bench.oauth.signIn()
    #expect(token.accessToken == "T")
    // No sign-in is told twice: there are never more calls than there were callers.
    let callers = plans.count { $0 != 1 }
    #expect(bench.delegate.events.count <= callers + 1)
  }
}

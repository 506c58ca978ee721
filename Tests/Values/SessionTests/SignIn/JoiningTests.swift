import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// One sign-in runs at a time, and further callers join it.
@Suite(.timeLimit(.minutes(1))) struct JoiningTests {
  let fixture: OAuthFixture

  init() throws {
    fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
  }

  func answer(_ query: String = "code=abc") async throws {
    let page = try await fixture.isWaiting()
    #expect(fixture.oauth.handleRedirect(try page.redirect(query)))
  }

  @Test func `calls during a sign-in open one browser and are reported once`() async throws {
    for _ in 0..<20 { fixture.oauth.authorizeUser() }
    try await answer()
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.opened.count == 1 && fixture.http.requests.count == 1)
    fixture.oauth.authorizeUser()
    _ = try await fixture.isWaiting(opened: 2)
    fixture.oauth.cancelSignIn()
    #expect(await fixture.delegate.events(2) == [.authorized("T"), .cancelled])
  }

  @Test func `a caller with a screen does not join a sign-in whose code is not shown`() throws {
    var state = SignIns.State()
    let request = SignIn.Request(place: .otherDevice)
    let unseen = try state.enter(request, isKept: true).get().signIn
    let isOver = state.delegateHasNoScreen(for: unseen)
    let entry = try state.enter(request, hasScreen: true).get()
    #expect(isOver && entry.isNew && entry.previous === unseen)
    let isSeen = !state.delegateHasNoScreen(for: entry.signIn)
    #expect(isSeen && state.running?.signIn === entry.signIn)
  }

  @Test func `all waiting callers get the same token`() async throws {
    fixture.oauth.authorizeUser()
    // All callers have joined before the answer. A later caller would start another sign-in.
    let callers = (0..<20).map { [fixture] _ in begin { try await fixture.oauth.signIn() } }
    try await answer()
    var tokens: Set<SQToken> = []
    for caller in callers { tokens.insert(try await caller.value) }
    #expect(tokens.count == 1)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.opened.count == 1 && fixture.http.requests.count == 1)
  }

  @Test func `all waiting callers get the same failure`() async throws {
    let callers = (0..<2).map { [fixture] _ in begin { try await fixture.oauth.signIn() } }
    try await answer("error=server_error")
    for caller in callers { await failure(.serverError) { try await caller.value } }
    #expect(fixture.opened.count == 1 && fixture.http.requests.isEmpty)
    // If the delegate were called twice, the second call would come before the call for the next
    // sign-in.
    fixture.oauth.authorizeUser()
    _ = try await fixture.isWaiting(opened: 2)
    fixture.oauth.cancelSignIn()
    #expect(await fixture.delegate.events(2) == [.failed(.serverError), .cancelled])
  }

  @Test func `isSigningIn is true only during a sign-in`() async throws {
    #expect(!fixture.oauth.isSigningIn)
    fixture.oauth.authorizeUser()
    #expect(fixture.oauth.isSigningIn)
    try await answer()
    _ = await fixture.delegate.events(1)
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test func `two SQOAuth instances do not share a sign-in`() async throws {
    let other = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.authorizeUser()
    other.oauth.authorizeUser()
    let (mine, theirs) = (try await fixture.isWaiting(), try await other.isWaiting())
    #expect(mine.state != theirs.state)
    #expect(mine.parameters["code_challenge"] != theirs.parameters["code_challenge"])
    // Each answer is given to the other instance, where it has the right address and a wrong state.
    #expect(!fixture.oauth.handleRedirect(try theirs.redirect("code=abc")))
    #expect(!other.oauth.handleRedirect(try mine.redirect("code=abc")))
    #expect(fixture.http.requests.isEmpty && other.http.requests.isEmpty)
    #expect(other.oauth.handleRedirect(try theirs.redirect("code=abc")))
    #expect(await other.delegate.events(1) == [.authorized("T")])
    #expect(fixture.delegate.events.isEmpty && fixture.oauth.isSigningIn)
  }
}

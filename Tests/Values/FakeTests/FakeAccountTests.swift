import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthTesting
import Testing

/// The fake account, and an account type that an app defines itself.
@Suite(.timeLimit(.minutes(1))) struct FakeAccountTests {
  private let request = WebRequest(
    url: URL(string: "https://api.example.com/orders") ?? URL(filePath: "/"))

  /// The smallest account that an app can write.
  private struct OwnAccount: OAuthAccount {
    func signIn() async throws(SQOAuthError) -> SQToken { .fake() }
    func requestAccess() async throws(SQOAuthError) -> SQToken { .fake() }
    func token() async throws(SQOAuthError) -> SQToken { .fake() }
    func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
      .init(status: 204)
    }
    func userInfo() async throws(SQOAuthError) -> UserInfo { .fake("carol") }
    func signOut() async throws(SQOAuthError) {}
  }

  /// A function of an app that takes any type of account.
  private func orders(of account: any OAuthAccount) async throws(SQOAuthError) -> Int {
    try await account.send(request).status
  }

  @Test func `an app can pass its own OAuthAccount where an SDK account is expected`() async throws
  {
    #expect(try await orders(of: OwnAccount()) == 204)
    #expect(try await OwnAccount().userInfo().subject == "carol")
  }

  @Test func `SQOAuth can be passed as an OAuthAccount`() async throws {
    let accounts: [any OAuthAccount] = [SQOAuth()]
    let error = await #expect(throws: SQOAuthError.self) {
      for account in accounts { _ = try await account.token() }
    }
    #expect(error?.code == .notAuthorized)
  }

  @Test func `a fake account returns the test's answer, and records the request`() async throws {
    let account = FakeAccount()
    account.answers { request in
      WebResponse(status: request.method == "GET" ? 200 : 405)
    }
    #expect(try await orders(of: account) == 200)
    #expect(account.requests.map(\.url) == [request.url])
    #expect(account.calls == [.send])
    #expect(account.requests.first?.headers["Authorization"] == nil)
  }

  @Test func `a request for which the test set no answer fails, and the error names the request`()
    async throws
  {
    let error = await #expect(throws: SQOAuthError.self) { try await orders(of: FakeAccount()) }
    #expect(error?.code == .connectionFailed && error?.message.contains("/orders") == true)
  }

  @Test func `a signed-out fake account demands a sign-in, which returns the test's next token`()
    async throws
  {
    let account = FakeAccount(token: nil)
    account.brings(.fake("first"), .fake("second"))
    let error = await #expect(throws: SQOAuthError.self) { try await orders(of: account) }
    #expect(error?.requiresSignIn == true)
    #expect(try await account.signIn().accessToken == "first")
    #expect(try await account.requestAccess().accessToken == "first")
    try await account.signOut()
    #expect(account.currentToken == nil)
    #expect(try await account.requestAccess().accessToken == "second")
    #expect(account.calls == [.send, .signIn, .requestAccess, .signOut, .requestAccess])
  }

  @Test func `a fake account throws each error of the test once, in order`() async throws {
    let account = FakeAccount()
    account.fails(.token, SQOAuthError(.serverError, "one"), SQOAuthError(.timedOut, "two"))
    for code in [SQOAuthError.Code.serverError, .timedOut] {
      let error = await #expect(throws: SQOAuthError.self) { try await account.token() }
      #expect(error?.code == code)
    }
    #expect(try await account.token().accessToken == "fake-access-token")
  }

  @Test
  func `a fake account refreshes once after status 401, and throws an error after a second 401`()
    async throws
  {
    let account = FakeAccount(token: .fake("old"))
    account.brings(.fake("one"), .fake("two"))
    account.answers { _ in WebResponse(status: 401) }
    let url = try WebRequest(url: "https://api.example.com/orders")
    var error = await #expect(throws: SQOAuthError.self) { try await account.send(url) }
    #expect(error?.code == .invalidToken && account.currentToken?.accessToken == "one")
    #expect(error?.resourceResponse?.status == 401)
    #expect(account.requests.count == 1)

    let answers = Locked([401, 200])
    account.answers { _ in WebResponse(status: answers.withLock { $0.removeFirst() }) }
    #expect(try await account.send(url).status == 200)
    #expect(account.currentToken?.accessToken == "two")

    let challenge: HeaderFields = ["WWW-Authenticate": #"Bearer error="insufficient_scope""#]
    let words = Data("You need the scope admin.".utf8)
    account.answers { _ in WebResponse(status: 403, headers: challenge, body: words) }
    error = await #expect(throws: SQOAuthError.self) { try await account.send(url) }
    #expect(error?.code == .insufficientScope && error?.resourceResponse?.body == words)
    account.answers { _ in WebResponse(status: 403) }
    #expect(try await account.send(url).status == 403)
  }

  @Test func `callers whose requests are refused with one token share a refresh`() async throws {
    let account = FakeAccount(token: .fake("old"))
    account.brings(.fake("one"), .fake("two"))
    // The first two answers come only after both requests, so both have the old token.
    let count = Locked(0)
    let bothAreSent = OneShot<Void>()
    account.answers { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 2 { bothAreSent.resolve(()) }
      await bothAreSent.wait()
      return WebResponse(status: number <= 2 ? 401 : 200)
    }
    async let first = account.send(request)
    async let second = account.send(request)
    let responses = try await [first, second]
    #expect(responses.map(\.status) == [200, 200])
    #expect(account.currentToken?.accessToken == "one" && account.requests.count == 2)
  }

  @Test(arguments: [[.signOut], [.signIn], [.signOut, .signIn]] as [[FakeAccount.Operation]])
  func `a request that is refused after a sign-out or a sign-in is not repeated`(
    changes: [FakeAccount.Operation]
  ) async throws {
    let account = FakeAccount()
    account.brings(.fake("of another user"))
    let answers = Locked(0)
    account.answers { _ async throws(SQOAuthError) in
      answers.withLock { $0 += 1 }
      for change in changes {
        if change == .signIn { try await account.signIn() } else { try await account.signOut() }
      }
      return WebResponse(status: 401)
    }
    let error = await #expect(throws: SQOAuthError.self) { try await account.send(request) }
    #expect(error?.code == .invalidToken && answers.withLock(\.self) == 1)
    #expect(
      account.currentToken?.accessToken == (changes.last == .signIn ? "of another user" : nil))
  }

  @Test func `callers share the refresh of an expired token, and the sign-in for access`()
    async throws
  {
    let clock = FakeClock()
    let expired = SQToken.fake("old", issuedAt: clock.now, lifetime: .zero)
    for token in [expired, nil] {
      let account = FakeAccount(token: token, clock: clock)
      account.brings(.fake("one", issuedAt: clock.now), .fake("two", issuedAt: clock.now))
      let tokens = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...50 {
          group.addTask { try await account.requestAccess().accessToken }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(tokens == ["one"])
    }
  }

  @Test func `a fake account refuses to send a token to an http URL`() async throws {
    let account = FakeAccount()
    account.answers { _ in WebResponse(status: 200) }
    let request = try WebRequest(url: "http://api.example.com/x")
    let error = await #expect(throws: SQOAuthError.self) { try await account.send(request) }
    #expect(error?.code == .insecureEndpoint)
  }

  @Test func `a token expires by the account's clock and is refreshed`() async throws {
    let clock = FakeClock()
    let account = FakeAccount(
      token: .fake("old", issuedAt: clock.now, lifetime: .seconds(60)), clock: clock)
    account.brings(.fake("new", refreshToken: nil, issuedAt: clock.now, lifetime: .seconds(120)))
    #expect(try await account.token().accessToken == "old")
    clock.advance(by: .seconds(60))
    #expect(try await account.token().accessToken == "new")
    clock.advance(by: .seconds(60))
    let error = await #expect(throws: SQOAuthError.self) { try await account.token() }
    #expect(error?.code == .notAuthorized)
  }

  @Test func `a fake account returns the user information that the test gives it`() async throws {
    let account = FakeAccount(
      token: .fake(idToken: try .fake("u-1")), user: .fake("u-1", claims: ["name": "Alice"]))
    #expect(try await account.token().idToken?.subject == "u-1")
    #expect(try await account.userInfo().name == "Alice")
    let stranger = FakeAccount()
    let error = await #expect(throws: SQOAuthError.self) { try await stranger.userInfo() }
    #expect(error?.code == .openIDUnsupported)
  }

  @Test func `no token is in the description of a fake account`() {
    let account = FakeAccount(token: .fake("secret-token"))
    #expect("\(account)" == "fake account after 0 calls")
    #expect(!String(reflecting: account).contains("secret-token"))
  }
}

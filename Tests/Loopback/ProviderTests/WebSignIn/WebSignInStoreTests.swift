import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// What happens to a web sign-in's token if the store fails or the caller is cancelled.
@Suite(.timeLimit(.minutes(2))) struct WebSignInStoreTests {
  private let store = ScriptedStore()
  private let fixture: WebFixture

  init() async throws {
    fixture = try await WebFixture()
  }

  private var configuration: ClientConfiguration { fixture.configuration }

  /// Begins a sign-in, lets its user allow it, and returns the sign-in and the redirect.
  private func answered() async throws -> (signIn: WebSignIn, redirect: String) {
    let (url, signIn) = try await fixture.host().beginSignIn(configuration)
    return (signIn, try await fixture.visit(url))
  }

  @Test func `if the store fails before the code is sent, the sign-in can be finished later`()
    async throws
  {
    let (signIn, redirect) = try await answered()
    let host = fixture.host(store)
    store.fails(toReserve: true)
    await failure(.storeFailed) {
      try await host.finishSignIn(signIn, redirect: redirect, configuration)
    }
    #expect(fixture.tokenRequests == 0)
    store.fails()
    let account = try await host.finishSignIn(signIn, redirect: redirect, configuration)
    #expect(await store.content(account.accountID) != nil)
  }

  @Test func `if the store fails after the code is sent, the token is saved later`() async throws {
    let (signIn, redirect) = try await answered()
    store.fails(toSave: true)
    async let finished = fixture.host(store)
      .finishSignIn(signIn, redirect: redirect, configuration)
    try await eventually("the store refuses the token") { !store.saves.isEmpty }
    store.fails()
    let account = try await finished
    let token = try #require(account.currentToken)
    #expect(await store.content(account.accountID) == ScriptedStore.words(token))
    #expect(fixture.tokenRequests == 1)
  }

  @Test func `if the store never accepts the token, finishing the sign-in throws`() async throws {
    let (signIn, redirect) = try await answered()
    var finish = WebSignInFinish(
      manager: fixture.host(store), signIn: signIn, configuration: configuration)
    finish.retryTime = .zero
    let (token, client) = try await finish.token(redirect: redirect, hasID: false)
    store.fails(toSave: true)
    await failure(.storeFailed) { try await finish.store(token, from: client, id: nil) }
    store.fails(toLoad: true)
    await failure(.storeFailed) { try await finish.store(token, from: client, id: nil) }
  }

  @Test func `the token is saved even if the caller is cancelled`() async throws {
    let (signIn, redirect) = try await answered()
    let finished = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await fixture.host(store)
        .finishSignIn(signIn, redirect: redirect, configuration)
    }
    finished.cancel()
    let account = try await finished.value
    #expect(await store.content(account.accountID) != nil)
  }

  /// Begins to finish a sign-in in the account `a`, and waits until its token is being saved.
  private func saving(
    at host: AccountManager
  ) async throws -> Task<AuthorizationModule, any Error> {
    let (signIn, redirect) = try await answered()
    let configuration = configuration
    store.saving.close()
    let finished = begin {
      try await host.finishSignIn(signIn, redirect: redirect, configuration, id: { _ in "a" })
    }
    try await store.saving.isHolding()
    return finished
  }

  @Test func `the manager's flush waits until the token of a web sign-in is stored`() async throws {
    let host = fixture.host(store)
    let finished = try await saving(at: host)
    #expect(host.tokenRequests.hasRequests)
    let end = begin { try await host.flush() }
    store.saving.open()
    try await end.value
    let content = await store.content("a")
    #expect(try await finished.value.currentToken.map(ScriptedStore.words) == content)
    #expect(!host.tokenRequests.hasRequests)
  }

  @Test func `the manager's flush offers the token of a web sign-in to the store again`()
    async throws
  {
    let (signIn, redirect) = try await answered()
    let host = fixture.host(store)
    _ = try await host.account(configuration, id: "a")
    var finish = WebSignInFinish(manager: host, signIn: signIn, configuration: configuration)
    finish.retryTime = .zero
    let (token, client) = try await finish.token(redirect: redirect, hasID: true)
    let gate = Gate(isOpen: false)
    let stored = begin { [finish] in
      try await host.tokenRequests.tracking { () throws(SQOAuthError) in
        await gate.pass()
        _ = try await finish.store(token, from: client, id: "a")
      }
    }
    try await gate.isHolding()
    let end = begin { try await host.flush() }
    store.fails(toSave: true)
    gate.open()
    await failure(.storeFailed) { try await stored.value }
    store.fails()
    try await end.value
    #expect(await store.content("a") == ScriptedStore.words(token))
  }

  @Test func `the tokens of a web sign-in are revoked if its user signs out meanwhile`()
    async throws
  {
    let host = fixture.host(store)
    let account = try await host.account(configuration, id: "a")
    let finished = try await saving(at: host)
    let signOut = begin { try await account.signOut() }
    store.saving.open()
    await failure(.cancelled) { try await finished.value }
    try await signOut.value
    try await host.flush()
    #expect(fixture.sandbox.requests(to: .revocation).count == 2)
    #expect(await store.content("a") == nil)
  }

  @Test func `a second sign-in of the same user keeps the account's attributes`() async throws {
    let first = try await answered()
    let account = try await fixture.host()
      .finishSignIn(first.signIn, redirect: first.redirect, configuration)
    account.attributes = ["name": "Alice"]
    try await account.refresh()
    let second = try await answered()
    let again = try await fixture.host()
      .finishSignIn(second.signIn, redirect: second.redirect, configuration)
    #expect(again.accountID == account.accountID && again.attributes == ["name": "Alice"])
    let record = await fixture.store.load(account.accountID)
    #expect(record?.attributes == ["name": "Alice"])
    #expect(record?.token.accessToken == again.currentToken?.accessToken)
  }

  @Test func `an account loaded with old client settings uses the new settings after a sign-in`()
    async throws
  {
    let (signIn, redirect) = try await answered()
    let host = fixture.host()
    // The account is first loaded with an earlier secret of the same client.
    let before = try ClientConfiguration(
      clientID: configuration.clientID, clientSecret: "old-secret",
      redirectURI: WebFixture.redirectURI, provider: configuration.provider)
    let account = try await host.account(before, id: "a")
    let finished = try await host.finishSignIn(
      signIn, redirect: redirect, configuration, id: { _ in "a" })
    #expect(finished === account && account.configuration == configuration)
    #expect(try await account.refresh().accessToken != "")
  }

  @Test func `a sign-in with the ID of another client's account throws and changes nothing`()
    async throws
  {
    let (signIn, redirect) = try await answered()
    let host = fixture.host()
    let other = try ClientConfiguration(
      clientID: "other", redirectURI: WebFixture.redirectURI, provider: configuration.provider)
    let account = try await host.account(other, id: "a")
    let error = await failure(.duplicateName) {
      try await host.finishSignIn(signIn, redirect: redirect, configuration, id: { _ in "a" })
    }
    #expect(error?.message.contains("\"a\" is in use for another client or server") == true)
    #expect(error?.message.contains("let the closure id return another id") == true)
    #expect(account.currentToken == nil)
    #expect(await fixture.store.list().isEmpty)
  }
}

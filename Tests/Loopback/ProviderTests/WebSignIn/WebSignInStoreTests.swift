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

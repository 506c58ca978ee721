import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// What becomes of a web sign-in's token when the store fails or the caller gives up.
@Suite(.timeLimit(.minutes(2))) struct WebSignInStoreTests {
  private let store = ScriptedStore()
  private let fixture: WebFixture

  init() async throws {
    fixture = try await WebFixture()
  }

  private var configuration: ClientConfiguration { fixture.configuration }

  /// A sign-in whose user has come back with a code.
  private func answered() async throws -> (signIn: WebSignIn, redirect: String) {
    let (url, signIn) = try await fixture.host().beginSignIn(configuration)
    return (signIn, try await fixture.visit(url))
  }

  @Test func `a store that fails costs no sign-in`() async throws {
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

  @Test func `a store that fails after the code was sent gets the token later`() async throws {
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

  @Test func `a token that the store does not take is an error`() async throws {
    let (signIn, redirect) = try await answered()
    var finish = WebSignInFinish(
      manager: fixture.host(store), signIn: signIn, configuration: configuration)
    finish.patience = .zero
    let (token, client) = try await finish.token(redirect: redirect, hasID: false)
    store.fails(toSave: true)
    await failure(.storeFailed) { try await finish.store(token, from: client, id: nil) }
    store.fails(toLoad: true)
    await failure(.storeFailed) { try await finish.store(token, from: client, id: nil) }
  }

  @Test func `a caller that is cancelled loses no token`() async throws {
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

  @Test func `another sign-in of a user keeps the account's attributes`() async throws {
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

  @Test func `a client whose settings have changed goes on with the new ones`() async throws {
    let (signIn, redirect) = try await answered()
    let host = fixture.host()
    // The same client, with a secret of before.
    let before = try ClientConfiguration(
      clientID: configuration.clientID, clientSecret: "old-secret",
      redirectURI: WebFixture.redirectURI, provider: configuration.provider)
    let account = try await host.account(before, id: "a")
    let finished = try await host.finishSignIn(
      signIn, redirect: redirect, configuration, id: { _ in "a" })
    #expect(finished === account && account.configuration == configuration)
    #expect(try await account.refresh().accessToken != "")
  }

  @Test func `an account that the manager has for another client is left alone`() async throws {
    let (signIn, redirect) = try await answered()
    let host = fixture.host()
    let other = try ClientConfiguration(
      clientID: "other", redirectURI: WebFixture.redirectURI, provider: configuration.provider)
    let account = try await host.account(other, id: "a")
    await failure(.duplicateName) {
      try await host.finishSignIn(signIn, redirect: redirect, configuration, id: { _ in "a" })
    }
    #expect(account.currentToken == nil)
    #expect(await fixture.store.list().isEmpty)
  }
}

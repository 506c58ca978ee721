import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Accounts whose names differ only in their Unicode form.
@Suite struct AccountNameTests {
  private static let names = ["caf\u{E9}", "cafe\u{301}"]

  @Test func `account names in different Unicode forms have separate modules and records`()
    async throws
  {
    let manager = AccountManager(store: MemoryTokenStore())
    let configuration = try ClientConfiguration(
      clientID: "client",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        issuer: "https://id.example"))
    for name in Self.names {
      try await manager.store.save(
        AccountRecord(
          id: name, clientID: "client", issuer: "https://id.example",
          token: SQToken(accessToken: "of \(name)")))
    }
    let modules = [
      try await manager.account(configuration, id: Self.names[0]),
      try await manager.account(configuration, id: Self.names[1]),
    ]
    #expect(modules[0] !== modules[1])
    #expect(manager.module(id: Self.names[0]) === modules[0])
    for (module, name) in zip(modules, Self.names) {
      #expect(module.currentToken?.accessToken == "of \(name)")
    }
    try await manager.remove(id: Self.names[0])
    #expect(manager.module(id: Self.names[0]) == nil)
    #expect(manager.module(id: Self.names[1]) === modules[1])
    #expect(try await manager.accounts().map(\.id) == [Self.names[1]])
    manager.release(id: Self.names[0])
    #expect(manager.module(id: Self.names[1]) === modules[1])
  }

  @Test func `a client ID in a different Unicode form belongs to a different client`() async throws
  {
    let store = MemoryTokenStore()
    await store.save(
      AccountRecord(
        id: "a", clientID: "\u{212A}", issuer: "https://id.example",
        token: SQToken(accessToken: "t")))
    let configuration = try ClientConfiguration(
      clientID: "K",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        issuer: "https://id.example"))
    await failure(.invalidConfiguration) {
      try await AccountManager(store: store).account(configuration, id: "a")
    }
  }
}

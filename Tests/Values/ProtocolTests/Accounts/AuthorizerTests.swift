import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The modules that an authorizer keeps by name.
@Suite struct AuthorizerTests {
  static func configuration(_ clientID: String = "client") throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: clientID, redirectURI: "http://127.0.0.1/callback",
      provider: .issuer("https://id.example"))
  }

  @Test func `a module is added, found and removed`() throws {
    let authorizer = Authorizer()
    #expect(authorizer.module(named: "a") == nil && authorizer.names.isEmpty)
    let module = try authorizer.add("a", Self.configuration())
    try authorizer.add("b", Self.configuration("other"))
    #expect(authorizer.module(named: "a") === module && module.accountID == "a")
    #expect(authorizer.names == ["a", "b"])
    #expect(authorizer.remove("a") === module)
    #expect(authorizer.module(named: "a") == nil && authorizer.remove("a") == nil)
    #expect(authorizer.names == ["b"])
  }

  @Test func `adding a module under an existing name fails and keeps the first one`() throws {
    let authorizer = Authorizer()
    let module = try authorizer.add("a", Self.configuration())
    let error = failure(.duplicateName) { try authorizer.add("a", Self.configuration("other")) }
    #expect(error?.message.contains("\"a\"") == true)
    #expect(authorizer.module(named: "a") === module)
    authorizer.remove("a")
    #expect(try authorizer.add("a", Self.configuration()) !== module)
  }

  @Test func `two authorizers do not share modules`() throws {
    let (one, two) = (Authorizer(), Authorizer())
    try one.add("a", Self.configuration())
    #expect(two.module(named: "a") == nil)
    try two.add("a", Self.configuration())
  }

  @Test func `when many callers add one name at the same time, one succeeds`() async throws {
    let authorizer = Authorizer()
    let configuration = try Self.configuration()
    let added = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { (try? authorizer.add("a", configuration)) != nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(added == 1)
  }
}

import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// The user's identity in the records of every store.
@Suite(.timeLimit(.minutes(2))) struct KeptIdentityTests {
  private static let claims: [String: JSONValue] = [
    "iss": "https://id.example", "sub": "alice", "aud": "client", "exp": 1_700_000_100,
    "iat": 1_700_000_000, "name": "Alice",
  ]

  private func record(clientID: String = "client", isValidated: Bool = true) throws -> AccountRecord
  {
    let parts = [Data(#"{"alg":"ES256"}"#.utf8), try JSONEncoder().encode(Self.claims), Data([1])]
    let text = parts.map { Base64URL.encode($0) }.joined(separator: ".")
    var token = SQToken(
      accessToken: "a", refreshToken: "r", additionalFields: ["id_token": .string(text)])
    if isValidated {
      let idToken = IDToken(validated: try IDTokenClaims(Self.claims), compactForm: text)
      token = token.identifying(idToken, nonce: nil)
    }
    return AccountRecord(
      id: "a", clientID: clientID, issuer: "https://id.example", token: token)
  }

  @Test(arguments: StoreKind.all)
  func `a loaded record has the claims of its ID token only if the token was validated`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let saved = try record()
    let writer = try kind.open(folder)
    try await writer.save(saved)
    let isInMemory = kind.name == StoreKind.memory.name
    // A store in memory shares nothing with another one.
    func reader() throws -> any TokenStore { isInMemory ? writer : try kind.open(folder) }
    let store = try reader()
    var found = [try #require(try await store.load("a"))] + (try await store.all())
    found += try await store.page(after: nil, limit: 1)
    found += try await AccountManager(store: store).accounts()
    for record in found {
      #expect(record == saved && record.token.idToken?.name == "Alice")
    }
    #expect(found.count == 4)
    // A record whose ID token was not validated, or belongs to another client, has no identity. A
    // memory store does not encode records and keeps the identity, so the second case is left out
    // for it.
    let foreign = isInMemory ? [] : [try record(clientID: "another")]
    for other in [try record(isValidated: false)] + foreign {
      try await store.save(other)
      let loaded = try #require(try await reader().load("a"))
      #expect(loaded.token.idToken == nil)
    }
  }

  @Test func `a memory store returns records with the claims of their ID tokens`() async throws {
    let store = MemoryTokenStore()
    await store.save(try record())
    #expect(try await store.all().map { $0.token.idToken?.name } == ["Alice"])
  }
}

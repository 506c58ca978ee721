import Foundation
import OAuthSandbox
import Testing

@testable import SequencingOAuth

extension OpenIDFixture {
  /// Returns the record of the account that signed in, as a store returns it, under another ID.
  func record(_ id: String) async throws -> AccountRecord {
    let store = try #require(oauth.environment.tokenStore as? MemoryTokenStore)
    let record = try #require(await store.load("default"))
    var json = try #require(
      try JSONSerialization.jsonObject(with: record.json()) as? [String: Any])
    json["id"] = id
    return try JSONDecoder().decode(
      AccountRecord.self, from: JSONSerialization.data(withJSONObject: json))
  }

  /// Returns a logout token for the client and for the user who signed in.
  func logoutToken(
    user: Bool = true, session: Bool = true, fault: SandboxLogoutTokenFault? = nil
  ) throws -> String {
    try #require(
      sandbox.logoutToken(
        client: "relying-party", namesUser: user, namesSession: session, fault: fault))
  }
}

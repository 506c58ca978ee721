import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// Which accounts a logout token names, after refreshes whose ID tokens tell less than the first.
@Suite struct LogoutNamesTests {
  private static let issuer = "https://id.example"

  /// Returns a validated ID token of a session, as it stands in a token response.
  private func idToken(_ sessionID: String?, of user: String = "alice") throws -> IDToken {
    var claims: [String: JSONValue] = [
      "iss": .string(Self.issuer), "sub": .string(user), "aud": "app", "iat": 1_700_000_000,
      "exp": 1_700_000_100,
    ]
    claims["sid"] = sessionID.map(JSONValue.string)
    let parts = [Data(#"{"alg":"ES256"}"#.utf8), try JSONEncoder().encode(claims), Data([1])]
    return IDToken(
      validated: try IDTokenClaims(claims),
      compactForm: parts.map { Base64URL.encode($0) }.joined(separator: "."))
  }

  private func token(_ idToken: IDToken?) -> SQToken {
    SQToken(
      accessToken: "a", refreshToken: "r",
      additionalFields: idToken.map { ["id_token": .string($0.compactForm)] } ?? [:]
    ).identifying(idToken, nonce: nil)
  }

  /// Returns the record of a sign-in after refreshes; each value is the `sid` of an ID token.
  private func record(_ sessionIDs: String?...) throws -> AccountRecord {
    let idTokens = try sessionIDs.map { try idToken($0) }
    return idTokens.dropFirst().reduce(
      AccountRecord(id: "a", clientID: "app", issuer: Self.issuer, token: token(idTokens.first))
    ) { record, new in
      // The ID token of a refresh waits in the record until it has been validated.
      record.refreshed(token(new), attributes: [:], pending: token(new)).verified(token(new))
    }
  }

  private func logout(_ subject: String?, _ sessionID: String?) throws -> LogoutToken {
    var claims: [String: JSONValue] = [
      "iss": .string(Self.issuer), "aud": "app", "jti": "1", "iat": 1_700_000_000,
      "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
    ]
    claims["sub"] = subject.map(JSONValue.string)
    claims["sid"] = sessionID.map(JSONValue.string)
    return try LogoutToken(
      claims, issuer: Self.issuer, clientID: "app", clockTolerance: .zero,
      now: Date(timeIntervalSince1970: 1_700_000_001))
  }

  @Test func `a refreshed ID token without sid leaves the account to its session`() throws {
    let record = try record("s1", nil, nil)
    #expect(record.token.idToken?.sessionID == nil && record.providerSessionID == "s1")
    for subject in ["alice", nil] {
      #expect(try logout(subject, "s1").names(record))
      #expect(try !logout(subject, "s2").names(record))
    }
    #expect(try logout("alice", nil).names(record))
    #expect(try !logout("bob", "s1").names(record))
  }

  @Test func `a refreshed ID token with another sid moves the account to that session`() throws {
    let record = try record("s1", nil, "s2")
    #expect(record.providerSessionID == "s2")
    #expect(try logout("alice", "s2").names(record) && logout(nil, "s2").names(record))
    #expect(try !logout("alice", "s1").names(record))
  }

  /// The account's session may be the ended session.
  @Test func `an account whose session is unknown is named by a logout token for its user`()
    throws
  {
    let record = try record(nil, nil)
    #expect(try logout("alice", "s1").names(record) && logout("alice", nil).names(record))
    #expect(try !logout("bob", "s1").names(record))
    #expect(try !logout(nil, "s1").names(record))
  }

  @Test func `an account without a validated ID token is named by no logout token`() throws {
    let record = AccountRecord(id: "a", clientID: "app", token: token(nil))
    #expect(try !logout("alice", nil).names(record) && !logout("alice", "s1").names(record))
  }

  @Test func `a stored record keeps the session that its ID token does not name`() throws {
    for (record, isWritten) in [(try record("s1", nil), true), (try record("s1", "s1"), false)] {
      let json = try record.json()
      #expect(String(decoding: json, as: UTF8.self).contains(#""sid":"s1""#) == isWritten)
      let read = [
        try JSONDecoder().decode(AccountRecord.self, from: json),
        try JSONDecoder().decode(AccountRecord.self, from: JSONEncoder().encode(record)),
        try #require(try StoredDecoder.value(AccountRecord.self, from: json)),
      ]
      for other in read { #expect(other == record && other.providerSessionID == "s1") }
    }
  }

  @Test func `a store's index has the session of the account after each refresh`() throws {
    let named = SessionName.session(issuer: Self.issuer, id: "s1").bytes
    for record in [try record("s1"), try record("s1", nil), try record(nil, "s1", nil)] {
      #expect(try SessionDigests(of: record, by: \.bytes).session == named)
    }
    #expect(try SessionDigests(of: record(nil, nil), by: \.bytes).session == Data())
  }
}

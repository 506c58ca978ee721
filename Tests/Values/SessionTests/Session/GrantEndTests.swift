import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The ends of refresh tokens and of users' authorizations that servers name.
@Suite(.timeLimit(.minutes(1))) struct GrantEndTests {
  /// Returns the ends of the refresh token and of the authorization, in seconds after `start`, for
  /// example `60 -`.
  private func ends(_ token: SQToken?, _ start: Date) -> String {
    [token?.refreshTokenExpirationDate, token?.authorizationExpirationDate]
      .map { $0.map { "\(Int($0.timeIntervalSince(start)))" } ?? "-" }.joined(separator: " ")
  }

  /// Each row: the members of the sign-in's response, the next refresh token in JSON, the members
  /// of the refresh's response 100 s later, and the ends after the refresh.
  private static let rows: [(String, String?, String, String)] = [
    // A new refresh token has the end that its response names, and otherwise no end.
    (#""refresh_token_timeout":900"#, nil, #""refresh_token_timeout":900"#, "1000 -"),
    (#""refresh_token_timeout":900"#, nil, "", "- -"),
    (#""refresh_expires_in":900"#, nil, #""refresh_expires_in":0"#, "- -"),
    // An unchanged refresh token keeps its end, unless the response names another end, or says with
    // 0 that there is none.
    (#""refresh_expires_in":900"#, "", "", "900 -"),
    (#""refresh_expires_in":900"#, #""R1""#, "", "900 -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":"600""#, "700 -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":0"#, "- -"),
    (#""refresh_expires_in":900"#, "", #""refresh_expires_in":"soon""#, "900 -"),
    // The authorization keeps its end with any refresh token, unless the response names another
    // end, or says with 0 that there is none.
    (#""authorization_expires_in":900"#, nil, "", "- 900"),
    (#""authorization_expires_in":900"#, "", "", "- 900"),
    (#""authorization_expires_in":900"#, nil, #""authorization_expires_in":2000"#, "- 2100"),
    (#""authorization_expires_in":900"#, nil, #""authorization_expires_in":0"#, "- -"),
    ("", nil, #""authorization_expires_in":50,"x_refresh_token_expires_in":40"#, "140 150"),
  ]

  @Test(arguments: rows)
  func `an authorization or unchanged refresh token keeps its end until a response changes the end`(
    first: String, refreshToken: String?, second: String, expected: String
  ) async throws {
    let fixture = try SessionFixture()
    let start = fixture.clock.now
    fixture.server.change { $0.more = first }
    try await fixture.oauth.signIn()
    fixture.clock.advance(by: 100)
    fixture.server.change { ($0.refreshToken, $0.more) = (refreshToken, second) }
    let token = try await fixture.module.refresh()
    #expect(ends(token, start) == expected)
    let kept = try #require(await fixture.store.memory.load("default"))
    let read = try JSONDecoder().decode(AccountRecord.self, from: kept.json())
    #expect(read == kept && ends(read.token, start) == expected, "also in the store")
  }

  @Test func `refresh_token_timeout is preferred to other members for the same lifetime`() {
    let now = Date()
    func end(_ fields: [String: JSONValue]) -> Double? {
      SQToken(accessToken: "a", refreshToken: "r", issueDate: now, additionalFields: fields)
        .refreshTokenExpirationDate?.timeIntervalSince(now)
    }
    #expect(end(["refresh_token_timeout": 5, "refresh_token_expires_in": 6]) == 5)
    #expect(end(["refresh_token_timeout": .null, "refresh_token_expires_in": 6]) == 6)
    #expect(end(["refresh_token_timeout": "x", "refresh_expires_in": 7]) == 7)
  }

  @Test
  func `a token of an older SDK version gets its refresh token's end from its additional fields`()
    throws
  {
    let json = #"""
      {"access_token":"a","token_type":"Bearer","refresh_token":"r","issue_date":1000,
       "additional_fields":{"refresh_expires_in":60}}
      """#
    let token = try JSONDecoder().decode(SQToken.self, from: Data(json.utf8))
    #expect(token.refreshTokenExpirationDate == Date(timeIntervalSinceReferenceDate: 1060))
  }

  @Test
  func `while a new ID token is not yet validated, the new refresh token and its end are kept`() {
    let now = Date()
    let old = SQToken(
      accessToken: "a", refreshToken: "r", issueDate: now,
      additionalFields: ["refresh_expires_in": 60])
    let new = SQToken(
      accessToken: "b", refreshToken: "s", issueDate: now + 50,
      additionalFields: ["refresh_expires_in": 70]
    ).refreshing(old)
    let record = AccountRecord(id: "a", clientID: "c", token: old)
      .refreshed(new, attributes: [:], pending: new)
    #expect(record.token.accessToken == "a" && record.token.refreshToken == "s")
    #expect(record.token.refreshTokenExpirationDate == now + 120)
    #expect(old.keeping(refreshToken: "s").refreshTokenExpirationDate == nil)
    #expect(old.keeping(refreshToken: "r").refreshTokenExpirationDate == now + 60)
  }
}

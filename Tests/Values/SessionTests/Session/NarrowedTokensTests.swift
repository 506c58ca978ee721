import Foundation
import Testing

@testable import SequencingOAuth

/// The tokens with fewer rights that a session keeps in memory.
@Suite struct NarrowedTokensTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func token(_ text: String, seconds: Double?) -> SQToken {
    SQToken(
      accessToken: text, expirationDate: seconds.map { now + $0 }, refreshToken: nil,
      issueDate: now)
  }

  @Test
  func `tokens for scopes or resources that differ only in spelling or order are kept separately`()
  {
    var tokens = NarrowedTokens()
    let pairs =
      [
        (["https://a"], nil), (["https://a/"], nil), (["https://A"], nil), ([], "caf\u{E9}"),
        ([], "cafe\u{301}"), (["https://a", "https://b"], nil), (["https://b", "https://a"], nil),
      ] as [([String], String?)]
    for (index, (resources, scope)) in pairs.enumerated() {
      let access = NarrowedAccess(resources, scope: scope)
      #expect(tokens.token(for: access, at: now) == nil)
      tokens.keep(token("\(index)", seconds: 60), for: access, at: now)
    }
    for (index, (resources, scope)) in pairs.enumerated() {
      let kept = tokens.token(for: NarrowedAccess(resources, scope: scope), at: now)
      #expect(kept?.accessToken == "\(index)")
    }
  }

  @Test
  func `a token is not returned in the last tenth of its life or over 60 s before its issue date`()
  {
    var tokens = NarrowedTokens()
    let access = NarrowedAccess([], scope: "a")
    tokens.keep(token("1", seconds: 100), for: access, at: now)
    #expect(tokens.token(for: access, at: now + 89) != nil)
    #expect(tokens.token(for: access, at: now + 90) == nil)
    // After the clock was moved back, it cannot show whether the token is valid.
    #expect(tokens.token(for: access, at: now - 61) == nil)
  }

  @Test func `if the cache is full, the token that expires first is removed`() {
    var tokens = NarrowedTokens()
    let first = NarrowedAccess([], scope: "first")
    let lasting = NarrowedAccess([], scope: "lasting")
    tokens.keep(token("lasting", seconds: nil), for: lasting, at: now)
    tokens.keep(token("first", seconds: 10), for: first, at: now)
    for index in 0..<200 {
      tokens.keep(
        token("\(index)", seconds: 100 + Double(index)), for: NarrowedAccess([], scope: "\(index)"),
        at: now)
    }
    #expect(tokens.token(for: first, at: now) == nil)
    #expect(tokens.token(for: lasting, at: now)?.accessToken == "lasting")
    #expect(tokens.token(for: NarrowedAccess([], scope: "199"), at: now) != nil)
    #expect(tokens.token(for: NarrowedAccess([], scope: "0"), at: now) == nil)
  }

  @Test func `if the cache is full, a new token is kept even if it expires first`() {
    var tokens = NarrowedTokens()
    for index in 0..<100 {
      tokens.keep(
        token("\(index)", seconds: 1000), for: NarrowedAccess([], scope: "\(index)"), at: now)
    }
    let access = NarrowedAccess([], scope: "new")
    tokens.keep(token("new", seconds: 100), for: access, at: now)
    #expect(tokens.token(for: access, at: now)?.accessToken == "new")
  }
}

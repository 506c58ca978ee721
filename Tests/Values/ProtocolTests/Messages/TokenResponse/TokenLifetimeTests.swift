import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Which values of `expires_in` are accepted.
@Suite struct TokenLifetimeTests {
  static func lifetime(_ json: String) throws(SQOAuthError) -> TimeInterval? {
    let token = try Answer.read(
      #"{"access_token":"a","token_type":"bearer","expires_in":\#(json)}"#)
    return token.expirationDate.map { $0.timeIntervalSince(Answer.now) }
  }

  @Test(arguments: [
    ("3600", 3600.0), ("\"3600\"", 3600), ("0", 0), ("\"0\"", 0), ("3599.0", 3599), ("1", 1),
    ("3.6e3", 3600), ("\"0060\"", 60), ("2147483647", 2_147_483_647),
  ])
  func `a number or a text of digits is a lifetime in seconds`(json: String, seconds: TimeInterval)
    throws
  {
    #expect(try Self.lifetime(json) == seconds)
  }

  @Test(arguments: ["3599.9", "0.5"])
  func `a fraction of a second does not lengthen the lifetime`(json: String) throws {
    let lifetime = try #require(try Self.lifetime(json))
    let sent = try #require(Double(json))
    #expect(lifetime <= sent && lifetime >= sent.rounded(.down))
  }

  @Test(arguments: [
    "2147483648", "9223372036854775807", "9223372036854775808", "1e18", "1e300",
    "\"99999999999999999999999999999999\"", "\"2147483648\"",
  ])
  func `a huge lifetime is shortened to 68 years`(json: String) throws {
    #expect(try Self.lifetime(json) == 2_147_483_647)
  }

  @Test(arguments: [
    "-1", "-0.5", "\"-1\"", "\"NaN\"", "\"nan\"", "\"inf\"", "\"Infinity\"", "\"\"", "\" 3600\"",
    "\"3600 \"", "\"+3600\"", "\"0x10\"", "\"3600.5\"", "\"1e3\"", "\"\u{0663}\u{0666}\"",
    "\"3,600\"", "\"one hour\"", "true", "false", "[3600]", "{\"s\":3600}", "-1e300", "\"\\u0000\"",
  ])
  func `a value that is not a length of time is rejected`(json: String) {
    failure(.invalidResponse) { try Self.lifetime(json) }
  }

  @Test(arguments: ["NaN", "Infinity", "-Infinity", "1e999", "0x10", "+1", ".5", "1."])
  func `an invalid JSON number and a number beyond the range of a Double are rejected`(json: String)
  {
    failure(.invalidResponse) { try Self.lifetime(json) }
  }

  @Test func `a null lifetime counts as missing`() throws {
    #expect(try Self.lifetime("null") == nil)
  }
}

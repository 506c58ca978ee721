import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// Functions that make the claims of a fake token and its text.
enum FakeClaims {
  /// Returns the claims of a token, with its issue date and its expiration date.
  ///
  /// `others` are the test's own claims; they replace other claims with the same names.
  static func timed(
    from issueDate: Date, for lifetime: Duration, _ claims: [String: JSONValue],
    replacedBy others: [String: JSONValue]
  ) -> [String: JSONValue] {
    let issued = issueDate.timeIntervalSince1970.rounded(.down)
    let seconds = lifetime.signedSeconds.rounded(.down)
    return claims.merging(
      ["iat": .number(issued), "exp": .number(issued + seconds)]
    ) { own, _ in own }.merging(others) { _, other in other }.filter { $0.value != .null }
  }

  /// Returns the claims as an unsecured JWT, whose signature is empty.
  ///
  /// - SeeAlso: RFC 7519, section 6
  static func unsigned(_ claims: [String: JSONValue]) throws(SQOAuthError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      let payload = try encoder.encode(JSONValue.object(claims))
      return "\(Base64URL.encode(Data(#"{"alg":"none"}"#.utf8))).\(Base64URL.encode(payload))."
    } catch {
      throw SQOAuthError(
        .idTokenMalformed,
        "the claims of the fake ID token cannot be written as JSON; give only finite numbers",
        cause: error)
    }
  }
}

import Foundation
package import SequencingOAuth

/// Tokens for the tests of stores and of encodings.
package enum Records {
  /// A token with a value in every field.
  package static let full = SQToken(
    accessToken: "a.b~c/+==", expirationDate: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
    tokenType: "bEARER", scope: "demo  external", refreshToken: "r \"\\/\u{7E}",
    issueDate: Date(timeIntervalSince1970: 1_750_000_000.123456),
    additionalFields: [
      "id_token": .string("\u{1F600}\u{0}\u{2028}"), "big": .integer(.max), "low": .integer(.min),
      "pi": .number(3.141592653589793), "tiny": .number(.leastNonzeroMagnitude),
      "huge": .number(1.7e308), "yes": .bool(true), "nothing": .null,
      "list": .array([.integer(1), .array([]), .object([:]), .null]),
      "object": .object(["a": .object(["b": .null])]), "": .string(""),
    ], refreshTokenExpirationDate: Date(timeIntervalSinceReferenceDate: 0.1 + 0.7),
    authorizationExpirationDate: Date(timeIntervalSince1970: 1_760_000_000.5))

  /// The full token, and tokens with little or unusual content.
  package static let tokens = [
    full, SQToken(accessToken: "a"), SQToken(accessToken: "", tokenType: "", scope: ""),
    SQToken(accessToken: "a", expirationDate: .distantPast, issueDate: .distantFuture),
  ]
}

/// Returns a record with a value in every field.
package func record(_ id: String, token: SQToken = Records.full) -> AccountRecord {
  AccountRecord(
    id: id, clientID: "client", issuer: "https://id.example",
    tokenEndpoint: "https://id.example/token", grant: .clientCredentials(scope: "demo"),
    session: "session", token: token, attributes: ["name": "Alice \u{1F600}", "": ""])
}

import Foundation
import SequencingOAuth

/// Records with everything that a record can have.
enum Records {
  static let full = SQToken(
    accessToken: "a.b~c/+==", expirationDate: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
    tokenType: "bEARER", scope: "demo  external", refreshToken: "r \"\\/\u{7E}",
    issueDate: Date(timeIntervalSince1970: 1_750_000_000.123456),
    additionalFields: [
      "id_token": .string("\u{1F600}\u{0}\u{2028}"), "big": .integer(.max), "pi": .number(3.14),
      "list": .array([.integer(1), .array([]), .object([:]), .null]), "": .bool(true),
    ])

  static let tokens = [
    full, SQToken(accessToken: "a"), SQToken(accessToken: "", tokenType: "", scope: ""),
    SQToken(accessToken: "a", expirationDate: .distantPast, issueDate: .distantFuture),
  ]
}

func record(_ id: String, token: SQToken = Records.full) -> AccountRecord {
  AccountRecord(
    id: id, clientID: "client", issuer: "https://id.example",
    tokenEndpoint: "https://id.example/token", grant: .clientCredentials(scope: "demo"),
    session: "session", token: token, attributes: ["name": "Alice \u{1F600}", "": ""])
}

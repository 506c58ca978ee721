import Foundation
import SQCrypto
import SequencingOAuth

/// A JWT that a client sent; the signature is not verified.
struct SentAssertion: Sendable {
  let text: String
  let header: [String: JSONValue]
  let claims: [String: JSONValue]

  init?(_ text: String) {
    let parts = text.split(separator: ".").map(String.init)
    guard parts.count == 3, let header = Self.members(parts[0]), let claims = Self.members(parts[1])
    else { return nil }
    self.text = text
    self.header = header
    self.claims = claims
  }

  private static func members(_ part: String) -> [String: JSONValue]? {
    Base64URL.decode(part).flatMap { try? JSONDecoder().decode([String: JSONValue].self, from: $0) }
  }
}

import Foundation
import Testing

@testable import SequencingOAuth

/// A private key that a specification publishes.
struct PublishedKey: Decodable, CustomTestStringConvertible {
  let source: String
  let algorithm: String
  let key: JSONValue
  let thumbprint: String?

  var testDescription: String { "\(algorithm) of \(source)" }

  static let all: [PublishedKey] = (try? TestVectors.read("PrivateKeys.json")) ?? []

  func text(_ change: (inout [String: JSONValue]) -> Void = { _ in }) throws -> String {
    var members = try #require(key.object)
    change(&members)
    return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
  }
}

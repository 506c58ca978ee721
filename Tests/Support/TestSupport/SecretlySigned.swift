import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

/// Correctly signed texts with any header and payload.
enum SecretlySigned {
  static let secret = Data((0..<32).map { UInt8($0) })

  static func text(header: String, payload: String = #"{"iss":"a"}"#) throws -> String {
    try text(header: Data(header.utf8), payload: Data(payload.utf8))
  }

  static func text(header: Data, payload: Data) throws -> String {
    let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
    let code = HMAC.code(of: Data(input.utf8), secret: secret, by: .sha256)
    return input + "." + Base64URL.encode(try #require(code))
  }
}

import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An issuer's key address, and the keys that a client has fetched from it.
struct KeyServer {
  let clock = ManualClock()
  let http = ScriptedTransport(keys("A"))
  let keys = SigningKeys()

  var environment: ClientEnvironment {
    var environment = ClientEnvironment()
    environment.transport = http
    environment.clock = clock
    return environment
  }

  func source(_ issuer: String = "https://id.example") throws -> SigningKeys.Source {
    SigningKeys.Source(
      issuer: issuer, uri: try #require(URL(string: "https://id.example/keys")),
      timeout: .seconds(10))
  }

  /// Returns an answer with one Ed25519 key.
  ///
  /// Any 32 bytes are a valid key.
  static func keys(
    _ letter: String, _ headers: HeaderFields = ["Content-Type": "application/json"]
  ) -> ScriptedTransport.Answer {
    let x = String(repeating: letter, count: 42) + "A"
    let body = #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"\#(letter)","x":"\#(x)"}]}"#
    return { _ in WebResponse(status: 200, headers: headers, body: Data(body.utf8)) }
  }
}

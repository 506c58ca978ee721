import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An issuer's address of keys, and what a client has fetched from it.
struct KeyServer {
  let clock = ManualClock()
  let http = ScriptedHTTPClient(keys("A"))
  let keys = SigningKeys()

  var environment: ClientEnvironment {
    var environment = ClientEnvironment()
    environment.httpClient = http
    environment.clock = clock
    return environment
  }

  func source(_ issuer: String = "https://id.example") throws -> SigningKeys.Source {
    SigningKeys.Source(
      issuer: issuer, uri: try #require(URL(string: "https://id.example/keys")),
      timeout: .seconds(10))
  }

  /// A set with one key of Ed25519, for which any 32 bytes will do.
  static func keys(
    _ letter: String, _ headers: HTTPFields = ["Content-Type": "application/json"]
  ) -> ScriptedHTTPClient.Answer {
    let x = String(repeating: letter, count: 42) + "A"
    let body = #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"\#(letter)","x":"\#(x)"}]}"#
    return { _ in HTTPResponse(status: 200, headers: headers, body: Data(body.utf8)) }
  }
}

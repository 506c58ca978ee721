import Foundation
import SQBasics
import SequencingOAuth

/// A session of the W3C WebDriver protocol: JSON over HTTP with chromedriver.
struct WebDriver: Sendable {
  /// `http://127.0.0.1:PORT`, followed by `/session/ID` once there is a session.
  let base: String
  let client: any HTTPTransport

  /// Sends a command and decodes its value.
  func send<Value: Decodable & Sendable>(
    _ method: String, _ path: String, _ body: some Encodable & Sendable = [String: String](),
    as type: Value.Type
  ) async throws -> Value {
    guard let url = URL(string: base + path) else { throw URLError(.badURL) }
    var request = WebRequest(method: method, url: url)
    request.maximumResponseBytes = 32 << 20
    // Chromedriver answers late if a page loads slowly.
    request.idleTimeout = .seconds(60)
    if method == "POST" {
      request.headers["Content-Type"] = "application/json"
      request.body = .bytes(try JSONEncoder().encode(body))
    }
    let response = try await client.send(request)
    guard response.status == 200 else {
      throw try JSONDecoder().decode(Reply<WebDriverError>.self, from: response.body).value
    }
    return try JSONDecoder().decode(Reply<Value>.self, from: response.body).value
  }

  /// Sends a command whose value does not matter.
  func send(
    _ method: String, _ path: String, _ body: some Encodable & Sendable = [String: String]()
  ) async throws {
    _ = try await send(method, path, body, as: Anything.self)
  }

  private struct Reply<Value: Decodable>: Decodable {
    let value: Value
  }

  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }
}

/// An error that chromedriver reported.
package struct WebDriverError: Error, Decodable, CustomStringConvertible {
  let error: String
  let message: String

  package var description: String {
    "\(error): \(message.prefix(400).replacing("\n", with: " "))"
  }

  /// Whether the command may succeed if it is sent again later.
  var isPassing: Bool {
    [
      "no such element", "stale element reference", "element click intercepted",
      "element not interactable", "invalid element state",
    ].contains(error)
  }
}

import Foundation
import SQBasics
import SequencingOAuth

/// An HTTP client that sends requests as the SDK does, and counts the token requests.
///
/// It counts every POST request as a token request.
final class TokenRequestCount: HTTPTransport {
  private struct State {
    var sent = 0
    var underWay = 0
    var mostAtOnce = 0
    var statuses: [Int: Int] = [:]
  }

  private let state = Locked(State())

  /// The number of token requests.
  var sent: Int { state.withLock(\.sent) }
  /// The highest number of simultaneous token requests.
  var mostAtOnce: Int { state.withLock(\.mostAtOnce) }
  /// How often each status was returned.
  var statuses: [Int: Int] { state.withLock(\.statuses) }

  func send(_ request: WebRequest) async throws -> WebResponse {
    guard request.method == "POST" else { return try await CurlTransport.shared.send(request) }
    state.withLock { state in
      state.sent += 1
      state.underWay += 1
      state.mostAtOnce = max(state.mostAtOnce, state.underWay)
    }
    defer { state.withLock { $0.underWay -= 1 } }
    let response = try await CurlTransport.shared.send(request)
    state.withLock { $0.statuses[response.status, default: 0] += 1 }
    return response
  }
}

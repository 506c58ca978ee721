import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

/// Sends bytes on a new connection and returns everything received until the server closes it.
func exchange(_ bytes: String, with server: LoopbackServer) async throws -> String {
  let connection = try await LoopbackConnection(to: server.address, port: server.port)
  try await connection.send(Data(bytes.utf8))
  return String(decoding: try await connection.receiveAll(), as: UTF8.self)
}

extension LoopbackConnection {
  func send(_ text: String) async throws { try await send(Data(text.utf8)) }

  /// Reads until `mark` has occurred `times` times, and returns everything received.
  func receive(until mark: String, times: Int = 1) async throws -> String {
    var text = ""
    while text.components(of: mark) < times {
      let bytes = try await receive(within: .seconds(60))
      try #require(!bytes.isEmpty, "the stream ended after: \(text)")
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }
}

extension String {
  /// Counts how often `mark` occurs.
  func components(of mark: String) -> Int {
    split(separator: mark, omittingEmptySubsequences: false).count - 1
  }

  /// The status code of the first response in the text.
  var status: Int? { Int(dropFirst("HTTP/1.1 ".count).prefix(3)) }
}

/// An event that happens once and that tasks can wait for.
actor Signal {
  private var isSet = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func set() {
    isSet = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  func wait() async {
    if isSet { return }
    await withCheckedContinuation { waiters.append($0) }
  }
}

extension LoopbackReply {
  static func text(_ text: String, status: Int = 200) -> Self {
    .response(LoopbackResponse(status: status, body: Data(text.utf8)))
  }
}

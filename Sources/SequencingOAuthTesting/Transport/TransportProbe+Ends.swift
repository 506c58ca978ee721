import SQBasics
import SQFoundation
import SequencingOAuth

// The duties about requests that end without a response.
extension TransportProbe {
  /// The longest time, in seconds, for a request that should end at once or within a second.
  ///
  /// It is shorter than ``ProbeServer/longAnswer``, but long enough for a busy machine.
  private static let soon = 15.0

  func checkTimeLimit() async throws {
    var request = WebRequest(url: try server.url("/drip/time-limit"))
    request.timeout = .milliseconds(300)
    let (error, seconds) = try await failure(
      of: request, instead: "it waits for a server that drips")
    try require(
      seconds < Self.soon, "a request with a timeout of 0.3 s took \(Self.text(seconds)) s")
    try require(
      error.code == .requestTimedOut, "it ends with \(error.code) and not with request_timed_out")
  }

  func checkIdleLimit() async throws {
    var request = WebRequest(url: try server.url("/silent/idle-limit"))
    request.timeout = nil
    request.idleTimeout = .seconds(1)
    let (_, seconds) = try await failure(
      of: request, instead: "it waits for a server that is silent")
    try require(
      seconds < Self.soon, "a request with an idleTimeout of 1 s took \(Self.text(seconds)) s")
  }

  func checkCancellation() async throws {
    let path = "/hold/cancellation"
    let request = WebRequest(url: try server.url(path))
    let task = Task {
      try await failure(of: request, instead: "the request of a cancelled task does not end")
    }
    server.whenReached(path) { task.cancel() }
    try checkEnd(try await task.value)
  }

  func checkInterruption() async throws {
    let path = "/hold/interruption"
    let ending = Interruption()
    server.whenReached(path) { ending.raise() }
    try checkEnd(
      try await failure(
        of: WebRequest(url: try server.url(path)), ending,
        instead: "the closure of whenStarted does not end the request"))
  }

  private func checkEnd(_ end: (error: SQOAuthError, seconds: Double)) throws {
    try require(
      end.seconds < Self.soon, "the request ended only after \(Self.text(end.seconds)) s")
    try require(
      end.error.code == .cancelled, "it ends with \(end.error.code) and not with cancelled")
  }

  func checkRefusedConnection() async throws {
    // The server listens on 127.0.0.1 only. On 127.0.0.2, its port is closed unless another program
    // has chosen exactly this address and port.
    let open = try server.url("/plain/refused").absoluteString
    let url = try WebRequest(url: open.replacing("127.0.0.1", with: "127.0.0.2")).url
    let (_, seconds) = try await failure(
      of: WebRequest(url: url), instead: "a request to a closed port does not fail")
    try require(seconds < Self.soon, "the error came only after \(Self.text(seconds)) s")
  }

  private static func text(_ seconds: Double) -> String {
    String((seconds * 10).rounded() / 10)
  }
}

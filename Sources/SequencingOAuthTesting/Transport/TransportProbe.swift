import SQBasics
import SQFoundation
import SQLoopback
import SequencingOAuth

/// A check of one client, with the server and the folder for the client's requests.
struct TransportProbe: Sendable {
  /// A behavior of the client that breaks a duty.
  struct Finding: Error {
    let text: String
  }

  let transport: any HTTPTransport
  let server: ProbeServer
  private let folder: URL

  /// Starts the server and creates the folder.
  init(_ transport: any HTTPTransport) throws(SQOAuthError) {
    self.transport = transport
    // The server comes first: if the folder then fails, the server stops by itself. In the other
    // order, a failure of the server would leave the folder behind.
    server = try ProbeServer()
    folder = FileManager.default.temporaryDirectory
      .appending(path: "sequencing-oauth-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw SQOAuthError(
        .fileFailed, "the check cannot make its files in \(folder.path.printable)", cause: error)
    }
  }

  /// Stops the server and removes the files.
  func end() async {
    await server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns the URL of a file in the folder.
  func file(_ name: String) -> URL { folder.appending(path: name) }

  /// Throws a finding unless a condition holds.
  func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws(Finding) {
    guard condition else { throw Finding(text: finding()) }
  }

  /// The time limit for each request of the check.
  private static let limit = Duration.seconds(30)

  /// Sends a request as an account would.
  func send(
    _ request: WebRequest, _ interruption: Interruption? = nil
  ) async throws(SQOAuthError) -> WebResponse {
    var request = request
    request.timeout = request.timeout.map { min($0, Self.limit) }
    let end = interruption ?? Interruption()
    // A client that ignores `timeout` must not hold up the check.
    let watch = Task {
      try await Task.sleep(for: Self.limit)
      end.raise()
    }
    defer { watch.cancel() }
    return try await transport.exchange(request, end)
  }

  /// Sends a request with a body, and returns the request that the server has received.
  func received(
    _ method: String = "POST", _ path: String, _ headers: HeaderFields = [:],
    _ body: WebRequestBody = .empty
  ) async throws -> LoopbackRequest {
    let request = WebRequest(
      method: method, url: try server.url(path), headers: headers, body: body)
    _ = try await send(request)
    guard let received = server.requests(to: path).last else {
      throw Finding(text: "the server at \(request.url) got no request")
    }
    return received
  }

  /// Sends a request that must fail, and returns its error and the time that it took.
  func failure(
    of request: WebRequest, _ interruption: Interruption? = nil, instead: String
  ) async throws(Finding) -> (error: SQOAuthError, seconds: Double) {
    let start = ContinuousClock.now
    let response: WebResponse
    do throws(SQOAuthError) {
      response = try await send(request, interruption)
    } catch {
      return (error, (ContinuousClock.now - start).seconds)
    }
    throw Finding(text: "\(instead): it returned a response (\(response))")
  }
}

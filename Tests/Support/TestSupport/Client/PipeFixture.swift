import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

/// A session with a pipe to an API whose answers a test controls.
struct PipeFixture: Sendable {
  let session: SessionFixture
  let pipeline: Pipeline
  let pipe: Pipeline.Pipe

  /// Creates a pipe `files` of `https://api.example/v2`, with the token T1 or without a token.
  init(
    _ configuration: PipeConfiguration = PipeConfiguration(), isSignedIn: Bool = true,
    browser: @escaping OAuthFixture.Browser = OAuthFixture.allow,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws {
    session = try SessionFixture(browser: browser, change: change)
    if isSignedIn { try await session.restored() }
    pipeline = try Pipeline("https://api.example/v2/", module: session.module)
    pipe = try pipeline.add("files", configuration)
    session.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
  }

  /// Answers every request to the API with one status and body.
  @discardableResult
  func answering(
    _ body: String, status: Int = 200, headers: HeaderFields = ["Content-Type": "application/json"]
  ) -> Self {
    session.api { request in
      let response = WebResponse(status: status, headers: headers, body: Data(body.utf8))
      guard case .stream(let take) = request.destination else { return response }
      try await take(response.head, Data())
      if !body.isEmpty { try await take(response.head, response.body) }
      return WebResponse(status: status, headers: headers)
    }
    return self
  }

  /// Holds requests to the API until the test releases them, or their task is cancelled.
  func holding() -> Hold {
    let hold = Hold()
    session.api { _ in
      while hold.isHeld { try await Task.sleep(for: .milliseconds(2)) }
      return WebResponse(status: 200)
    }
    return hold
  }

  /// Every request to the API, in order: the method and the URL.
  var asked: [String] {
    session.apiRequests.map { "\($0.method) \($0.url.absoluteString)" }
  }
}

/// A latch that holds an API's answers back until ``release()``.
final class Hold: Sendable {
  private let state = Locked(true)

  var isHeld: Bool { state.withLock(\.self) }

  func release() { state.withLock { $0 = false } }
}

/// Runs a body that must fail with a pipe's error, and returns the error for further checks.
@discardableResult
func pipeFailure<Value>(
  sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation,
  of body: () async throws(PipeError) -> Value
) async -> PipeError? {
  await failure(as: PipeError.self, sourceLocation: sourceLocation, of: body)
}

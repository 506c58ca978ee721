import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How long a client waits for a server's metadata in all.
@Suite struct DiscoveryLimitTests {
  private static let issuer = "https://id.example/t"
  private let clock = ManualClock()

  private func discovery() -> Discovery {
    Discovery(issuer: Self.issuer, timeout: .seconds(60), needs: .keys, clock: clock)
  }

  @Test(arguments: [SQOAuthError.Code.requestTimedOut, .connectionFailed, .tlsFailed])
  func `a server that does not answer gets one request`(code: SQOAuthError.Code) async throws {
    let http = ScriptedTransport { _ in throw SQOAuthError(code, "no answer") }
    await failure(code) { try await discovery().fetch(with: http) }
    #expect(http.requests.count == 1)
  }

  @Test(arguments: [SQOAuthError.Code.requestTimedOut, .connectionFailed, .tlsFailed])
  func `a server that stops answering after its first document gets one more request`(
    code: SQOAuthError.Code
  ) async throws {
    let body = #"{"issuer":"\#(Self.issuer)","token_endpoint":"https://id.example/token"}"#
    let http = ScriptedTransport { request in
      guard request.url.path().contains("oauth-authorization-server") else {
        throw SQOAuthError(code, "no answer")
      }
      return WebResponse(
        status: 200, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
    let found = try await discovery().fetch(with: http)
    #expect(found.metadata.tokenEndpoint.absoluteString == "https://id.example/token")
    #expect(http.requests.count == 2)
  }

  @Test func `a search whose second request is cancelled has no result`() async throws {
    let body = #"{"issuer":"\#(Self.issuer)","token_endpoint":"https://id.example/token"}"#
    let http = ScriptedTransport { request in
      guard request.url.path().contains("oauth-authorization-server") else {
        throw CancellationError()
      }
      return try await ScriptedTransport.json(body)(request)
    }
    await failure(.cancelled) { try await discovery().fetch(with: http) }
    #expect(http.requests.count == 2)
  }

  @Test func `all addresses share one time limit`() async throws {
    let clock = clock
    let http = ScriptedTransport { _ in
      clock.advance(by: 25)
      return WebResponse(status: 404)
    }
    await failure(.invalidResponse) { try await discovery().fetch(with: http) }
    #expect(http.requests.map(\.timeout) == [.seconds(60), .seconds(35), .seconds(10)])
  }

  @Test func `an address gets no request if no time is left`() async throws {
    let clock = clock
    let http = ScriptedTransport { _ in
      clock.advance(by: 30)
      return WebResponse(status: 404)
    }
    let error = await failure(.requestTimedOut) { try await discovery().fetch(with: http) }
    #expect(http.requests.count == 2 && error?.message.contains("within 60.0 seconds") == true)
  }
}

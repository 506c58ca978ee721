import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An app's own HTTP client, which keeps few of the promises of the SDK's client.
@Suite(.timeLimit(.minutes(1))) struct ForeignClientTests {
  private struct Broken: Error {}

  private func request(timeout: Duration?) throws -> WebRequest {
    var request = WebRequest(url: try #require(URL(string: "https://api.example/")))
    request.timeout = timeout
    return request
  }

  /// Gets the value `true` when the task of the endless client is cancelled.
  private let wasCancelled = OneShot<Bool>()

  /// A client that returns only when its task is cancelled.
  private var endless: ScriptedTransport {
    ScriptedTransport { [wasCancelled] _ in
      while !Task.isCancelled { await Task.yield() }
      wasCancelled.resolve(true)
      throw CancellationError()
    }
  }

  @Test func `the client is cancelled when the request times out`() async throws {
    let request = try request(timeout: .milliseconds(1))
    await failure(.requestTimedOut) { try await endless.exchange(request) }
    #expect(await wasCancelled.value() == true)
  }

  @Test func `the caller's cancellation is not reported as a timeout`() async throws {
    let request = try request(timeout: .seconds(3600))
    let task = begin { [endless] in try await endless.exchange(request) }
    task.cancel()
    await failure(.cancelled) { try await task.value }
  }

  @Test func `raising an Interruption cancels the client`() async throws {
    let request = try request(timeout: .seconds(3600))
    let interruption = Interruption()
    let task = begin { [endless] in try await endless.exchange(request, interruption) }
    interruption.raise()
    await failure(.cancelled) { try await task.value }
    #expect(await wasCancelled.value() == true)
  }

  @Test func `the error contains the type of the client's error`() async throws {
    let request = try request(timeout: .seconds(3600))
    let client = ScriptedTransport { _ in throw Broken() }
    let error = await failure(.connectionFailed) { try await client.exchange(request) }
    #expect(error?.message == "the HTTP client failed with Broken" && error?.cause is Broken)
  }
}

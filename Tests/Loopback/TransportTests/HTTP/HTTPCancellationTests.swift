import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Cancellation at any moment.
///
/// It soon gives one result and leaves nothing behind.
@Suite(.timeLimit(.minutes(3))) struct HTTPCancellationTests {
  let client = CurlTransport()

  @Test func `a request of a cancelled task is not sent`() async throws {
    let server = try Server.answering()
    let request = try server.request()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.send(request)
    }
    await failure(.cancelled) { try await task.value }
    // The request of the cancelled task would arrive before this one.
    _ = try await client.send(server.request("GET", "/later"))
    #expect(server.requests.map(\.target) == ["/later"])
  }

  @Test func `cancelling ends a request to a silent server`() async throws {
    let arrival = AsyncStream.makeStream(of: Void.self)
    let server = try Server { _, _ in
      arrival.continuation.yield()
      return .script([.wait(.seconds(100))])
    }
    let request = try server.request()
    let task = Task { try await client.send(request) }
    for await _ in arrival.stream { break }
    task.cancel()
    await failure(.cancelled) { try await task.value }
  }

  @Test func `ten thousand randomly cancelled requests end with a response or a cancellation`()
    async throws
  {
    let server = try Server { _, index in
      index.isMultiple(of: 3)
        ? .script([.wait(.seconds(1000))]) : .response(LoopbackResponse(status: 200))
    }
    let request = try server.request()
    let surprises = await withTaskGroup(of: String?.self) { group in
      for worker in 0..<50 {
        group.addTask { await surprise(in: 200, request, seed: UInt64(worker)) }
      }
      return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
    }
    #expect(surprises == [])
    let last = try Server.answering()
    #expect(try await client.send(try last.request()).text == "hello")
  }

  /// Sends requests one after another and cancels each after a random time.
  ///
  /// - Returns: The first error other than a cancellation, or `nil`.
  private func surprise(in count: Int, _ request: WebRequest, seed: UInt64) async -> String? {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    for _ in 0..<count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let task = Task { try await client.send(request) }
      for _ in 0..<(state % 24) { await Task.yield() }
      task.cancel()
      do {
        _ = try await task.value
      } catch let error as SQOAuthError {
        if error.code != .cancelled { return error.description }
      } catch {
        return "\(error)"
      }
    }
    return nil
  }
}

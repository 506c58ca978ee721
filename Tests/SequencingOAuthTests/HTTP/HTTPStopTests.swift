import Foundation
import LoopbackHTTP
import SequencingOAuth
import TestSupport
import Testing

/// A process that stands still past a request's time limit, as in a debugger or a frozen container.
///
/// The answer lies in its socket by the time it goes on.
@Suite(.timeLimit(.minutes(2))) struct HTTPStopTests {
  private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
  private static let limit = 2

  /// Lets a probe that stands still go on when its request's time has passed.
  private func goOn(_ probe: ChildProcess) async throws -> ChildProcess.Result {
    // It has stopped behind the request's start, so the time is over by then.
    try await Task.sleep(for: .seconds(Self.limit) + .milliseconds(200))
    #expect(probe.isStopped)
    probe.signal(SIGCONT)
    return try await probe.result()
  }

  /// A server that answers the last of so many requests when it is allowed to.
  private struct Bench: Sendable {
    let server: RawServer
    let hasRequest = OneShot<Void>()
    let isAnswered = OneShot<Void>()
    let mayAnswer = DispatchSemaphore(value: 0)

    init(requests: Int) throws {
      server = try RawServer { [hasRequest, isAnswered, mayAnswer] connection in
        for number in 1...requests {
          guard connection.readHead() != nil else { return }
          if number == requests {
            hasRequest.resolve(())
            mayAnswer.wait()
          }
          connection.write(HTTPStopTests.answer)
        }
        connection.isDelivered()
        isAnswered.resolve(())
        while !connection.read().isEmpty {}
      }
    }

    func probe(_ command: String) throws -> ChildProcess {
      try TransferProbe.start(
        command, "http://127.0.0.1:\(server.port)/", limit: HTTPStopTests.limit)
    }

    /// Answers a probe that stands still.
    func answer() async {
      mayAnswer.signal()
      _ = await isAnswered.value()
    }
  }

  @Test func `the event loop reads an answer that came while the process was stopped`()
    async throws
  {
    let bench = try Bench(requests: 1)
    defer { bench.server.stop() }
    let probe = try bench.probe("send")
    _ = await bench.hasRequest.value()
    probe.signal(SIGSTOP)
    try await eventually("the probe stops") { probe.isStopped }
    await bench.answer()
    let result = try await goOn(probe)
    #expect(result.output.contains("status 200"), "\(result.errors)")
  }

  /// The first request is answered at once, so that the caller of the second one waits itself.
  @Test func `a caller that waits itself reads an answer that came while it was stopped`()
    async throws
  {
    let bench = try Bench(requests: 2)
    defer { bench.server.stop() }
    let probe = try bench.probe("send-alone")
    try await eventually("the probe stops", within: .seconds(60)) {
      guard probe.isRunning else { throw Ended(said: probe.output + probe.errors) }
      return probe.isStopped
    }
    await bench.answer()
    let result = try await goOn(probe)
    #expect(result.output.contains("status 200"), "\(result.errors)")
  }

  private struct Ended: Error {
    let said: String
  }
}

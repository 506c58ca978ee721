import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// A process that is stopped for longer than a request's time limit, for example by a debugger.
///
/// When the process continues, the answer is already in its socket.
@Suite(.timeLimit(.minutes(2))) struct HTTPStopTests {
  private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
  private static let limit = 2

  /// Continues a stopped probe after its request's time limit has passed.
  private func goOn(_ probe: ChildProcess) async throws -> ChildProcess.Result {
    // The request started before the probe stopped, so its time limit passes during this sleep.
    try await Task.sleep(for: .seconds(Self.limit) + .milliseconds(200))
    #expect(probe.isStopped)
    probe.signal(SIGCONT)
    return try await probe.result()
  }

  /// A server that answers the first request at once and the second only when allowed.
  private struct SlowServer: Sendable {
    let server: RawServer
    let hasRequest = OneShot<Void>()
    let isAnswered = OneShot<Void>()
    let mayAnswer = DispatchSemaphore(value: 0)

    init() throws {
      server = try RawServer { [hasRequest, isAnswered, mayAnswer] connection in
        for isSecond in [false, true] {
          guard connection.readHead() != nil else { return }
          if isSecond {
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

    /// Sends the answer to a stopped probe.
    func answer() async {
      mayAnswer.signal()
      _ = await isAnswered.value()
    }
  }

  @Test
  func `an answer that arrived while the process was stopped is read even after the time limit`()
    async throws
  {
    let (fixture, probe) = try await stopped()
    defer { fixture.server.stop() }
    await fixture.answer()
    let result = try await goOn(probe)
    #expect(result.output.contains("status 200"), "\(result.errors)")
  }

  /// Returns a probe that was stopped while it waited for its second answer.
  ///
  /// If the machine is so busy that the request's limit passes before the stop, the function starts
  /// another probe.
  private func stopped() async throws -> (SlowServer, ChildProcess) {
    while true {
      let fixture = try SlowServer()
      let probe = try fixture.probe("send")
      do {
        try await eventually("the second request arrives", within: .seconds(60)) {
          try await expectRunning(probe)
          return fixture.hasRequest.current != nil
        }
        probe.signal(SIGSTOP)
        try await eventually("the probe stops", within: .seconds(60)) {
          try await expectRunning(probe)
          return probe.isStopped
        }
        return (fixture, probe)
      } catch let error as Ended where error.said.contains("request_timed_out") {
        fixture.server.stop()
      }
    }
  }

  /// Throws what a probe has printed, if it has ended.
  private func expectRunning(_ probe: ChildProcess) async throws {
    guard !probe.isRunning else { return }
    let result = try await probe.result()
    throw Ended(said: result.output + result.errors)
  }

  /// A gate that blocks the event loop's thread once, as if the process were stopped.
  private final class Hold: Sendable {
    private let isFirst = Locked(true)
    private let mayGoOn = DispatchSemaphore(value: 0)
    let hasBegun = OneShot<Void>()

    func pass() {
      let isFirst = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard isFirst else { return }
      hasBegun.resolve(())
      mayGoOn.wait()
    }

    func end() { mayGoOn.signal() }
  }

  @Test(.ownThreads) func `a request whose time limit passes before it can be sent is not sent`()
    async
  {
    // A separate process, because all requests of a process share one event loop.
    await #expect(processExitsWith: .success) {
      let hasBoth = OneShot<Void>()
      let server = try Server { request, number in
        // The first two requests arrive in parallel.
        if number == 0 { _ = await hasBoth.value() }
        if number == 1 { hasBoth.resolve(()) }
        guard request.path == "/slow" else { return .response(LoopbackResponse(status: 200)) }
        let start = Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx".utf8)
        return .script([.send(start), .wait(.seconds(50))])
      }
      let client = CurlTransport()
      let hold = Hold()
      var slow = try server.request("GET", "/slow")
      slow.progress = { _ in hold.pass() }
      // Opens two connections. One of them stays free, so a late request could be sent there at
      // once.
      async let first = client.send(try server.request())
      async let second = client.send(try server.request())
      _ = try await (first, second)
      let other = Task { [slow] in try await client.send(slow) }
      _ = await hold.hasBegun.value()
      var late = try server.request("POST", "/late")
      late.timeout = .seconds(3600)
      // The request's time limit passes before the event loop gets it.
      let time = TimeLead()
      let error = await failure(.requestTimedOut) { [late] in
        try await CurlTransport(lead: time).send(late) { _ in
          time.skip(.seconds(7200))
          hold.end()
        }
      }
      try #require(error != nil)
      _ = try await client.send(try server.request("POST", "/after"))
      other.cancel()
      try #require(server.requests.last?.path == "/after")
      try #require(!server.requests.contains { $0.path == "/late" })
    }
  }

  private struct Ended: Error {
    let said: String
  }
}

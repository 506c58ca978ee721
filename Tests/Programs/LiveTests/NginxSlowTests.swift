import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Downloads that are slow, cancelled or broken off.
@Suite(.requires(.nginx), .timeLimit(.minutes(3))) struct NginxSlowTests {
  private static let content = pattern(600_000)

  @Test(arguments: NginxFixture.Way.allCases, [true, false])
  func `a cancelled slow download ends at once, at the client and at the server`(
    way: NginxFixture.Way, isStreamed: Bool
  ) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 50_000_000), "files/a.bin")
      let hasBegun = Gate(isOpen: false)
      var request = try fixture.request("GET", "/slow/a.bin", way)
      request.progress = { if $0.received > 0 { hasBegun.open() } }
      // Over HTTP/2, only requests whose answer goes to memory may share a connection.
      if isStreamed { request.destination = .stream { _, _ in } }
      let download = Task { [request] in await fixture.failure(request) }
      await hasBegun.opened()
      download.cancel()
      #expect(await download.value?.code == .cancelled)
      let seen = try #require(try await fixture.nginx.requests(atLeast: 1).first)
      #expect(seen.status == 200 || seen.status == 499)
      #expect(!seen.isComplete && seen.contentSent < 10_000_000)
      // A later request still succeeds.
      #expect(try await fixture.module.send(fixture.request("GET", "/files", way)).status == 200)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `an idle timeout, a total timeout and a size limit each end a download`(
    way: NginxFixture.Way
  ) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 50_000_000), "files/a.bin")
      // This request opens the connection, so that nginx gets each later request before its time
      // limit.
      #expect(try await fixture.module.send(fixture.request("GET", "/files", way)).status == 200)
      var idle = try fixture.request("GET", "/slow/a.bin", way)
      idle.idleTimeout = .milliseconds(700)
      let silence = await fixture.failure(idle)
      #expect(silence?.code == .requestTimedOut && silence?.message.contains("silent") == true)

      var total = try fixture.request("GET", "/slow/a.bin", way)
      total.timeout = .seconds(3)
      let end = await fixture.failure(total)
      #expect(end?.code == .requestTimedOut && end?.message.contains("complete") == true)
      #expect(fixture.module.isAuthorized && fixture.refreshes.isEmpty)

      var large = try fixture.request("GET", "/slow/a.bin", way)
      large.maximumResponseBytes = 100_000
      #expect(await fixture.failure(large)?.code == .responseTooLarge)
      // In each case, nginx notices that the client has left.
      let requests = try await fixture.nginx.requests(atLeast: 4).dropFirst()
      #expect(requests.allSatisfy { !$0.isComplete })
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `each broken download is an error, and range requests complete the file`(
    way: NginxFixture.Way
  ) async throws {
    let folder = try TemporaryFolder()
    try await NginxFixture.running { fixture in
      try fixture.write(Self.content, "files/a.bin")
      var received = Data()
      var breaks = 0
      while received.count < Self.content.count {
        let file = URL(filePath: folder.file("part"))
        var request = try fixture.request("GET", "/cut/a.bin", way)
        request.headers["Range"] = "bytes=\(received.count)-"
        request.destination = .file(file)
        do throws(SQOAuthError) {
          let response = try await fixture.module.send(request)
          #expect(response.status == 206)
        } catch {
          #expect(error.code == .connectionFailed, "\(error)")
          breaks += 1
        }
        let part = try Data(contentsOf: file)
        try #require(!part.isEmpty)
        received += part
      }
      #expect(received == Self.content)
      // Each part but the last has 128 KiB, less the head of the answer.
      #expect(breaks == 4)
      #expect(fixture.refreshes.isEmpty)
    }
  }

  @Test func `pauses shorter than the idle timeout do not end a slow download`() async throws {
    let content = pattern(240_000)
    let received = Locked(Data())
    try await NginxFixture.running { fixture in
      try fixture.write(content, "files/a.bin")
      var request = try fixture.request("GET", "/slow/a.bin")
      // After the first 128 KiB, nginx sends 16 KiB per second, so the whole takes about 7 s.
      request.idleTimeout = .seconds(5)
      request.destination = .stream { _, data in received.withLock { $0 += data } }
      let start = ContinuousClock.now
      #expect(try await fixture.module.send(request).status == 200)
      let time = ContinuousClock.now - start
      #expect(time > .seconds(5), "the whole download lasts longer than the idle timeout")
      #expect(received.withLock(\.self) == content)
    }
  }
}

import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Downloads that take long, are given up, or break off.
@Suite(.requires(.nginx), .timeLimit(.minutes(1))) struct NginxSlowTests {
  private static let content = pattern(600_000)

  @Test(arguments: NginxFixture.Way.allCases, [true, false])
  func `a slow download that is cancelled ends at once, here and there`(
    way: NginxFixture.Way, isStreamed: Bool
  ) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 50_000_000), "files/a.bin")
      let hasBegun = Gate(isOpen: false)
      var request = try fixture.request("GET", "/slow/a.bin", way)
      request.progress = { if $0.received > 0 { hasBegun.open() } }
      // Over HTTP/2 only what stays in memory may share its connection.
      if isStreamed { request.destination = .stream { _, _ in } }
      let download = Task { [request] in await fixture.failure(request) }
      await hasBegun.opened()
      download.cancel()
      #expect(await download.value?.code == .cancelled)
      let seen = try #require(try await fixture.nginx.requests(atLeast: 1).first)
      #expect(seen.status == 200 || seen.status == 499)
      #expect(!seen.isComplete && seen.contentSent < 10_000_000)
      // On the same connection, where that is of HTTP/2, others are not disturbed.
      #expect(try await fixture.module.send(fixture.request("GET", "/files", way)).status == 200)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a pause that is too long ends a download, and so do its time and its size`(
    way: NginxFixture.Way
  ) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 50_000_000), "files/a.bin")
      // With a connection that is there, nginx sees each request before its time is up.
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
      // nginx hears each time that nobody listens any more.
      let requests = try await fixture.nginx.requests(atLeast: 4).dropFirst()
      #expect(requests.allSatisfy { !$0.isComplete })
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a download that breaks off is an error, and its parts make the whole`(
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
      // A second may begin meanwhile, and another 128 KiB may be sent.
      #expect((2...4).contains(breaks))
      #expect(fixture.refreshes.isEmpty)
    }
  }

  @Test func `a download may go on slowly for as long as it moves`() async throws {
    let received = Locked(0)
    try await NginxFixture.running { fixture in
      try fixture.write(pattern(150_000), "files/a.bin")
      var request = try fixture.request("GET", "/slow/a.bin")
      request.idleTimeout = .seconds(10)
      request.destination = .stream { _, data in received.withLock { $0 += data.count } }
      #expect(try await fixture.module.send(request).status == 200)
      #expect(received.withLock { $0 } == 150_000)
    }
  }
}

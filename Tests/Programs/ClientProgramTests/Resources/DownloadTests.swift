import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Downloads to a file that are completed, resumed, cancelled or rejected.
@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
  let fixture: DownloadFixture

  init() throws {
    fixture = try DownloadFixture()
  }

  @Test(arguments: [0, 1, 70_000, 3_000_000])
  func `a downloaded file is complete, and no other file is left`(size: Int) async throws {
    let content = pattern(size)
    let server = try RangeServer(content)
    let response = try await fixture.download(server)
    #expect(response.status == 200)
    #expect(response.body.isEmpty)
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
    #expect(try TemporaryFolder.mode(fixture.destination.path) == 0o600)
    fixture.expectWholeProgress(size)
    let request = try #require(server.requests.first)
    #expect(request.header("accept-encoding") == "identity")
    #expect(request.header("range") == nil)
    #expect(server.requests.count == 1)
  }

  @Test func `a download works under a umask that removes all rights`() async throws {
    let content = pattern(70_000)
    let server = try RangeServer(content)
    let probe = try await ChildProcess.run([
      "bash", "-c", "umask 0777; exec \"$@\"", "-", TransferProbe.executable, "download",
      try server.request().url.absoluteString, fixture.destination.path,
    ])
    #expect(probe.status == 0, "\(probe.output)\(probe.errors)")
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try TemporaryFolder.mode(fixture.destination.path) == 0o600)
  }

  @Test(
    .requires(CCompiler.requirement),
    .disabled(if: isSanitized, "a sanitizer must be the first library of its process"))
  func `a download succeeds if only its folder cannot be synced after the file is in its place`()
    async throws
  {
    let content = pattern(70_000)
    let server = try RangeServer(content)
    let result = try await TransferProbe.run(
      "download", try server.request().url.absoluteString,
      toFailingDisk: fixture.destination.path)
    #expect(result.output.contains("\nstatus 200\n"), "\(result.errors)")
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
  }

  @Test(
    .requires(CCompiler.requirement),
    .disabled(if: isSanitized, "a sanitizer must be the first library of its process"))
  func `a download to a file system without modes succeeds and is resumed`() async throws {
    let content = pattern(400_000)
    let server = try RangeServer(content)
    let url = try server.request().url.absoluteString
    let file = fixture.destination.path
    server.fail(.cut(after: 150_000), .reply(.response(LoopbackResponse(status: 503))))
    let first = try await TransferProbe.run(download: url, toDiskWithoutModes: file)
    #expect(first.output.contains("\nstatus 503\n"), "\(first.errors)")
    let second = try await TransferProbe.run(download: url, toDiskWithoutModes: file)
    #expect(second.output.contains("\nstatus 206\n"), "\(second.errors)")
    #expect(server.ranges.last == "bytes=150000-")
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(try fixture.names == ["file.bin"])
  }

  @Test(
    .requires(CCompiler.requirement),
    .disabled(if: isSanitized, "a sanitizer must be the first library of its process"))
  func `bytes that a file server may have lost are not used again`() async throws {
    let server = try RangeServer(pattern(400_000))
    let result = try await TransferProbe.run(
      download: try server.request().url.absoluteString, toFullServer: fixture.destination.path)
    #expect(result.errors.contains("No space left on device"), "\(result.errors)")
    #expect(try fixture.names.isEmpty)
  }

  @Test func `a file without an announced length arrives complete`() async throws {
    let content = pattern(500_000)
    let server = try RangeServer(content)
    server.change { $0.hasLength = false }
    _ = try await fixture.download(server)
    #expect(try Data(contentsOf: fixture.destination) == content)
    fixture.expectWholeProgress(content.count)
    #expect(fixture.progress.dropLast().allSatisfy { $0.total == nil })
  }

  @Test func `a download is resumed after each of several broken connections`() async throws {
    let content = pattern(1_000_000)
    let server = try RangeServer(
      content, faults: [.cut(after: 300_000), .cut(after: 200_000), .cut(after: 100_000)])
    #expect(try await fixture.download(server).status == 206)
    #expect(try Data(contentsOf: fixture.destination) == content)
    #expect(server.ranges == [nil, "bytes=300000-", "bytes=500000-", "bytes=600000-"])
    #expect(server.requests.dropFirst().allSatisfy { $0.header("if-range") == #""v1""# })
    fixture.expectWholeProgress(content.count)
  }

  @Test func `after the idle timeout the rest of the file is requested`() async throws {
    let content = pattern(400_000)
    let server = try RangeServer(content, faults: [.stall(after: 100_000)])
    var request = try server.request()
    request.timeout = nil
    request.idleTimeout = .seconds(3600)
    let isSilent = OneShot<Void>()
    _ = try await fixture.download(request) { [time = fixture.time] progress in
      guard progress.completed == 100_000, isSilent.resolve(()) else { return }
      time.advance(by: .seconds(7200))
    }
    #expect(server.ranges == [nil, "bytes=100000-"])
    #expect(try Data(contentsOf: fixture.destination) == content)
  }

  @Test func `the total timeout covers all attempts of a download`() async throws {
    let server = try RangeServer(
      pattern(2_000_000), faults: (0..<20).map { _ in .stall(after: 100_000) })
    await failure(.requestTimedOut) {
      try await fixture.download(server) {
        $0.timeout = .seconds(12)
        $0.idleTimeout = .seconds(5)
      }
    }
    #expect((1...4).contains(server.requests.count))
    #expect(try fixture.names == ["file.bin.partial", "file.bin.partial.info"])
  }

  @Test func `a download fails after five connections that each bring almost no bytes`()
    async throws
  {
    let server = try RangeServer(
      pattern(400_000), faults: (0..<20).map { _ in .cut(after: 1000) })
    await failure(.connectionFailed) { try await fixture.download(server) }
    #expect(server.requests.count == 5)
  }

  @Test func `a download without any received bytes is not retried`() async throws {
    let server = try RangeServer(pattern(400), faults: [.reply(.script([.reset]))])
    await failure(.connectionFailed) { try await fixture.download(server) }
    #expect(server.requests.count == 1)
    #expect(try fixture.names.isEmpty)
  }

  @Test func `a download without a strong validator is not resumed`() async throws {
    let server = try RangeServer(
      pattern(400_000), [("ETag", #"W/"v1""#)], faults: [.cut(after: 200_000)])
    await failure(.connectionFailed) { try await fixture.download(server) }
    #expect(server.requests.count == 1)
    #expect(try fixture.names.isEmpty)
  }

  @Test func `a cancelled download stops and can be resumed`() async throws {
    let content = pattern(400_000)
    let server = try RangeServer(content, faults: [.stall(after: 100_000)])
    let task = Task { try await fixture.download(server) }
    try await eventually("bytes have come") { fixture.progress.last?.completed == 100_000 }
    task.cancel()
    await failure(.cancelled) { try await task.value }
    _ = try await fixture.download(server)
    #expect(server.ranges == [nil, "bytes=100000-"])
    #expect(try Data(contentsOf: fixture.destination) == content)
    fixture.expectWholeProgress(content.count)
  }

  @Test(arguments: [302, 401, 404, 500])
  func `an error response is returned with its content and changes no file`(status: Int)
    async throws
  {
    try Data("kept".utf8).write(to: fixture.destination)
    let body = Data("sorry".utf8)
    let server = try RangeServer(
      Data(), faults: [.reply(.response(LoopbackResponse(status: status, body: body)))])
    let response = try await fixture.download(server)
    #expect(response.status == status)
    #expect(response.text == "sorry")
    #expect(try fixture.names == ["file.bin"])
    #expect(try Data(contentsOf: fixture.destination) == Data("kept".utf8))
    #expect(fixture.progress.isEmpty)
  }

  @Test func `an error response has a size limit`() async throws {
    let reply = LoopbackResponse(status: 500, body: Data(count: 2000))
    let server = try RangeServer(Data(), faults: [.reply(.response(reply))])
    await failure(.responseTooLarge) {
      try await fixture.download(server) { $0.maximumResponseBytes = 1000 }
    }
  }

  @Test(arguments: [true, false])
  func `a file that is too long is rejected`(hasLength: Bool) async throws {
    try Data("kept".utf8).write(to: fixture.destination)
    let server = try RangeServer(pattern(300_000))
    server.change { $0.hasLength = hasLength }
    await failure(.responseTooLarge) { try await fixture.download(server, maximumBytes: 299_999) }
    #expect(try Data(contentsOf: fixture.destination) == Data("kept".utf8))
    #expect(try await fixture.download(server, maximumBytes: 300_000).status < 300)
  }

  @Test func `a failure keeps the existing file, and a success replaces it`() async throws {
    try Data("old".utf8).write(to: fixture.destination)
    let server = try RangeServer(
      Data("new".utf8), [], faults: [.cut(after: 1)])
    await failure(.connectionFailed) { try await fixture.download(server) }
    #expect(try Data(contentsOf: fixture.destination) == Data("old".utf8))
    _ = try await fixture.download(server)
    #expect(try Data(contentsOf: fixture.destination) == Data("new".utf8))
  }

  @Test func `gzip content is decoded into the file`() async throws {
    // printf hello | gzip -n, in hexadecimal.
    let zipped = "1f8b0800000000000003cb48cdc9c9070086a6103605000000"
    let bytes = stride(from: 0, to: zipped.count, by: 2).map { index in
      UInt8(zipped.dropFirst(index).prefix(2), radix: 16) ?? 0
    }
    let fields = [("ETag", #""z""#), ("Content-Encoding", "gzip")]
    let server = try RangeServer(Data(bytes), fields.map { (name: $0.0, value: $0.1) })
    _ = try await fixture.download(server)
    #expect(try Data(contentsOf: fixture.destination) == Data("hello".utf8))
  }

  @Test func `of two simultaneous downloads to one file, the second fails`() async throws {
    let content = pattern(400_000)
    let rest = Gate(isOpen: false)
    defer { rest.open() }
    let server = try RangeServer(content, faults: [.cut(after: 100_000), .hold(rest)])
    let first = Task { try await fixture.download(server) }
    try await eventually("the first download is under way") { rest.waiting == 1 }
    let request = try server.request()
    let second = ResumableDownload(request, to: fixture.destination)
    let error = await failure(.fileInUse) {
      try await second.run { _ throws(SQOAuthError) in WebResponse(status: 200) }
    }
    #expect(error?.message.contains("file.bin.partial") == true)
    rest.open()
    #expect(try await first.value.status == 206)
    #expect(try Data(contentsOf: fixture.destination) == content)
  }

  @Test func `a partial answer that was not requested creates no file`() async throws {
    let reply = LoopbackResponse(
      status: 206, headers: [("Content-Range", "bytes 0-2/3")], body: Data("abc".utf8))
    let server = try RangeServer(Data(), faults: [.reply(.response(reply))])
    await failure(.invalidResponse) { try await fixture.download(server) }
    #expect(try fixture.names.isEmpty)
  }

  @Test(arguments: ["POST", "Range", "If-Range"])
  func `a request that is not a plain GET is rejected`(what: String) async throws {
    let server = try RangeServer(Data("abc".utf8))
    await failure(.malformedRequest) {
      try await fixture.download(server) {
        if what == "POST" { $0.method = what } else { $0.headers[what] = "bytes=1-" }
      }
    }
    #expect(server.requests.isEmpty)
  }
}

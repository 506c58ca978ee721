import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// What a later call does with the bytes of an earlier download.
@Suite(.timeLimit(.minutes(1))) struct DownloadResumeTests {
  let fixture: DownloadFixture
  let content = pattern(400_000)

  init() throws {
    fixture = try DownloadFixture()
  }

  private func expectContent(
    _ content: Data, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(
      try Data(contentsOf: fixture.destination) == content, sourceLocation: sourceLocation)
    #expect(try fixture.names == ["file.bin"], sourceLocation: sourceLocation)
    fixture.expectWholeProgress(content.count, sourceLocation: sourceLocation)
  }

  @Test func `a later download continues where the last one stopped`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    #expect(try TemporaryFolder.mode(fixture.partial.path) == 0o600)
    #expect(try TemporaryFolder.mode(fixture.info.path) == 0o600)
    #expect(try await fixture.download(server).status == 206)
    #expect(server.ranges.last == "bytes=150000-")
    #expect(server.requests.last?.header("if-range") == #""v1""#)
    #expect(server.requests.last?.header("accept-encoding") == "identity")
    #expect(fixture.progress.first?.completed == 150_000)
    try expectContent(content)
  }

  @Test func `the stored state of a download contains no secret of the URL`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(1000, of: server)
    let info = String(decoding: try Data(contentsOf: fixture.info), as: UTF8.self)
    #expect(!info.contains("SECRET"))
    #expect(!info.contains("key"))
  }

  @Test func `a changed file is downloaded again`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    let other = pattern(300_000, seed: 2)
    server.change {
      $0.content = other
      $0.fields = [("ETag", #""v2""#)]
    }
    #expect(try await fixture.download(server).status == 200)
    #expect(server.requests.last?.header("range") == "bytes=150000-")
    try expectContent(other)
  }

  @Test func `an interrupted download of a changed file is resumed with the new ETag`()
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(350_000, of: server)
    let other = pattern(300_000, seed: 2)
    server.change {
      $0.content = other
      $0.fields = [("ETag", #""v2""#)]
    }
    try await fixture.bring(100_000, of: server)
    #expect(try await fixture.download(server).status == 206)
    #expect(server.requests.last?.header("if-range") == #""v2""#)
    try expectContent(other)
  }

  @Test func `a download from another URL to the same file starts from the beginning`() async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    _ = try await fixture.download(try server.request("/file?key=OTHER"))
    #expect(server.ranges.last == .some(nil))
    try expectContent(content)
  }

  @Test(arguments: [("alice", "bytes=150000-"), ("bob", nil), (nil, nil)] as [(String?, String?)])
  func `only a later download of the same user continues`(user: String?, range: String?)
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server, owner: "alice")
    #expect(!String(decoding: try Data(contentsOf: fixture.info), as: UTF8.self).contains("alice"))
    _ = try await fixture.download(server, owner: user)
    #expect(server.ranges.last == range)
    try expectContent(content)
  }

  @Test func `a download whose user is not known, for lack of a token, keeps the bytes`()
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server, owner: "alice")
    var download = ResumableDownload(try server.request(), to: fixture.destination)
    download.owner = { () throws(SQOAuthError) in throw SQOAuthError(.connectionFailed, "down") }
    await failure(.connectionFailed) { [download] in
      try await download.run { _ throws(SQOAuthError) in WebResponse(status: 200) }
    }
    _ = try await fixture.download(server, owner: "alice")
    #expect(server.ranges.last == "bytes=150000-")
    try expectContent(content)
  }

  @Test func `a record that other users can write to is not believed`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: fixture.info.path)
    _ = try await fixture.download(server)
    #expect(server.ranges.last == .some(nil))
    try expectContent(content)
  }

  @Test func `a later download accepts the whole file from a server without ranges`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    server.change { $0.hasRanges = false }
    #expect(try await fixture.download(server).status == 200)
    try expectContent(content)
  }

  /// Fields of answers that do not continue the stored part: the range or the tag does not match.
  @Test(arguments: [
    ("bytes 149999-399999/400000", #""v1""#), ("bytes 0-399999/400000", #""v1""#),
    ("bytes 150000-399999/400001", #""v1""#), ("bytes 150000-399999/*", #""v1""#),
    ("bytes 150000-400000/400000", #""v1""#), ("bytes 150001-150000/400000", #""v1""#),
    ("items 150000-399999/400000", #""v1""#), ("bytes=150000-399999/400000", #""v1""#),
    ("bytes 150000-399999/400000", #""v2""#), ("bytes 150000-399999/400000", #"W/"v1""#),
    ("bytes 150000-399999/400000", ""), ("", #""v1""#),
  ])
  func `after a 206 response without the right range and ETag, the whole file is requested`(
    range: String, tag: String
  ) async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    var fields: [(name: String, value: String)] = []
    if !range.isEmpty { fields.append(("Content-Range", range)) }
    if !tag.isEmpty { fields.append(("ETag", tag)) }
    let wrong = Data(repeating: 0xEE, count: 250_000)
    server.fail(.reply(.response(LoopbackResponse(status: 206, headers: fields, body: wrong))))
    #expect(try await fixture.download(server).status == 200)
    #expect(server.ranges.suffix(2) == ["bytes=150000-", nil])
    try expectContent(content)
  }

  @Test func `a server that sends only some of the rest is asked for more`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(100_000, of: server)
    server.fail(
      .reply(
        .response(
          LoopbackResponse(
            status: 206,
            headers: [("Content-Range", "bytes 100000-299999/400000"), ("ETag", #""v1""#)],
            body: content[100_000..<300_000]))))
    _ = try await fixture.download(server)
    #expect(server.ranges.suffix(2) == ["bytes=100000-", "bytes=300000-"])
    try expectContent(content)
  }

  @Test func `a 206 response that is longer than its Content-Range fails the download`()
    async throws
  {
    let server = try RangeServer(content)
    try await fixture.bring(399_000, of: server)
    server.fail(
      .reply(
        .response(
          LoopbackResponse(
            status: 206,
            headers: [("Content-Range", "bytes 399000-399999/400000"), ("ETag", #""v1""#)],
            body: Data(count: 2000)))))
    await failure(.invalidResponse) { try await fixture.download(server) }
    #expect(!FileManager.default.fileExists(atPath: fixture.destination.path))
  }

  // MARK: Validators

  static let longAgo = (name: "Last-Modified", value: "Sun, 06 Nov 1994 08:49:37 GMT")

  @Test func `a Last-Modified date that is old enough is used if there is no ETag`() async throws {
    let server = try RangeServer(
      content, [Self.longAgo, ("Date", "Mon, 07 Nov 1994 08:49:37 GMT")])
    try await fixture.bring(150_000, of: server)
    _ = try await fixture.download(server)
    #expect(server.requests.last?.header("if-range") == Self.longAgo.value)
    #expect(server.ranges.last == "bytes=150000-")
    try expectContent(content)
  }

  @Test(
    arguments: [
      [("ETag", #"W/"v1""#)],
      [("ETag", #"W/"v1""#), longAgo, ("Date", "Mon, 07 Nov 1994 08:49:37 GMT")],
      [("ETag", "v1")], [("ETag", #""a"b""#)], [("ETag", #""a""#), ("ETag", #""b""#)], [],
      [longAgo], [longAgo, ("Date", "Sun, 06 Nov 1994 08:50:36 GMT")],
      [("Last-Modified", "yesterday"), ("Date", "Mon, 07 Nov 1994 08:49:37 GMT")],
      [("ETag", #""v1""#), ("Accept-Ranges", "none")],
    ] as [[(name: String, value: String)]])
  func `without a strong validator or without support for ranges, no partial file is kept`(
    fields: [(name: String, value: String)]
  ) async throws {
    let server = try RangeServer(content, fields, faults: [.cut(after: 150_000)])
    await failure(.connectionFailed) { try await fixture.download(server) }
    #expect(try fixture.names.isEmpty)
    _ = try await fixture.download(server)
    #expect(server.ranges == [nil, nil])
    try expectContent(content)
  }

  // MARK: All bytes are already stored

  @Test func `if the partial file is complete, only its last byte is requested`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    try content.write(to: fixture.partial)
    #expect(try await fixture.download(server).status == 206)
    #expect(server.ranges.last == "bytes=399999-")
    try expectContent(content)
  }

  @Test(arguments: [true, false])
  func `a 416 response with the length completes the download only if it has the ETag`(hasTag: Bool)
    async throws
  {
    // The server announces no length, so the client cannot know that it already has every byte.
    let server = try RangeServer(content)
    server.change { $0.hasLength = false }
    try await fixture.bring(150_000, of: server)
    try content.write(to: fixture.partial)
    if !hasTag {
      server.fail(
        .reply(
          .response(
            LoopbackResponse(status: 416, headers: [("Content-Range", "bytes */400000")]))))
    }
    #expect(try await fixture.download(server).status == 200)
    #expect(server.ranges.dropFirst(2) == (hasTag ? ["bytes=400000-"] : ["bytes=400000-", nil]))
    try expectContent(content)
  }

  @Test(arguments: [400, 405, 412, 416, 417, 501])
  func `a server that rejects the range is asked for the whole file`(status: Int) async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    server.fail(.reply(.response(LoopbackResponse(status: status))))
    #expect(try await fixture.download(server).status == 200)
    #expect(server.ranges.suffix(2) == ["bytes=150000-", nil])
    try expectContent(content)
  }

  @Test(arguments: [403, 404, 410])
  func `a 403, 404 or 410 response does not erase the stored bytes`(status: Int) async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    server.fail(.reply(.response(LoopbackResponse(status: status))))
    #expect(try await fixture.download(server).status == status)
    #expect(try await fixture.download(server).status == 206)
    #expect(server.ranges.suffix(2) == ["bytes=150000-", "bytes=150000-"])
    try expectContent(content)
  }

  @Test func `a file that has become shorter is downloaded again`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    let other = pattern(100_000, seed: 2)
    // The server wrongly keeps the entity tag, although the file has changed.
    server.change { $0.content = other }
    #expect(try await fixture.download(server).status == 200)
    #expect(server.ranges.suffix(2) == ["bytes=150000-", nil])
    try expectContent(other)
  }

  // MARK: After a crash

  private func changeInfo(_ change: (inout [String: Any]) -> Void) throws {
    var info = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: fixture.info)) as? [String: Any])
    change(&info)
    try JSONSerialization.data(withJSONObject: info).write(to: fixture.info)
  }

  @Test func `bytes whose record has another format version are discarded`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    try changeInfo { $0["version"] = 2 }
    _ = try await fixture.download(server)
    #expect(server.ranges.last == .some(nil))
    try expectContent(content)
  }

  @Test func `after a power loss only the synced bytes are used`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    // The process had written more before it was killed, and the system lost the unsynced part.
    let zeros = content.prefix(150_000) + Data(count: 50_000)
    try zeros.write(to: fixture.partial)
    try changeInfo { $0["boot"] = "an earlier one" }
    _ = try await fixture.download(server)
    #expect(server.ranges.last == "bytes=150000-")
    try expectContent(content)
  }

  @Test func `after a process was killed all its written bytes are used`() async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    try content.prefix(200_000).write(to: fixture.partial)
    try changeInfo { $0["synced"] = 0 }
    _ = try await fixture.download(server)
    #expect(server.ranges.last == "bytes=200000-")
    try expectContent(content)
  }

  @Test(arguments: ["longer than the whole", "gone"])
  func `a partial file that does not match its record is discarded`(what: String) async throws {
    let server = try RangeServer(content)
    try await fixture.bring(150_000, of: server)
    try FileManager.default.removeItem(at: fixture.partial)
    if what != "gone" { try (content + content).write(to: fixture.partial) }
    _ = try await fixture.download(server)
    #expect(server.ranges.last == .some(nil))
    try expectContent(content)
  }
}

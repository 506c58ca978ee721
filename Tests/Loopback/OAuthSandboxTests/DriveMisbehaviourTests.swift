import FoundationEssentials
import Glibc
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DriveMisbehaviourTests {
  private let upload = "/upload/drive/v2/files"

  private func drive() async throws -> (DriveClient, content: String) {
    let sandbox = try await SandboxServer.start()
    let file = sandbox.addFile("ten", content: Data("0123456789".utf8))
    return (DriveClient(sandbox), "/drive/v2/files/\(file.id)?alt=media")
  }

  @Test func `a misbehaviour of one drive endpoint does not affect the others`() async throws {
    let (drive, content) = try await drive()
    let file = String(content.prefix { $0 != "?" })
    let paths: [(SandboxEndpoint, String)] = [
      (.driveAbout, "/drive/v2/about"), (.driveFiles, "/drive/v2/files"), (.driveFile, file),
      (.driveContent, content),
    ]
    for (endpoint, path) in paths {
      drive.sandbox.misbehave(at: endpoint, .bearerError("invalid_token"))
      drive.sandbox.misbehave(at: endpoint, .bearerError("insufficient_scope", scope: "files"))
      drive.sandbox.misbehave(at: endpoint, .status(500))
      drive.sandbox.misbehave(at: endpoint, .notJSON)
      for (_, other) in paths where other != path {
        #expect(try await drive.send("GET", other).status == 200)
      }
      for status in [401, 403, 500, 200, 200] {
        #expect(try await drive.send("GET", path).status == status)
      }
    }
    #expect(drive.sandbox.requests(to: .driveContent).count == 8)
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    (SandboxMisbehaviour.ignoringRange, 200, "0123456789", String?.none),
    (.ignoring("If-Range"), 206, "56789", "bytes 5-9/10"),
    (.field("Content-Range", "bytes 0-4/10"), 206, "56789", "bytes 0-4/10"),
    (.field("content-range", nil), 206, "56789", nil),
    (.cut(afterBodyBytes: 2), 206, "56", "bytes 5-9/10"),
    (.cut(afterBodyBytes: 99), 206, "56789", "bytes 5-9/10"),
    (.drip(3, every: .zero), 206, "56789", "bytes 5-9/10"),
  ])
  func `a download can have a wrong status, length or range`(
    misbehaviour: SandboxMisbehaviour, status: Int, text: String, range: String?
  ) async throws {
    let (drive, content) = try await drive()
    let etag = try #require(drive.sandbox.files().last?.etag)
    drive.sandbox.misbehave(at: .driveContent, misbehaviour)
    let bytes = try await bytes(
      "GET \(content)", "Range: bytes=5-\r\nIf-Range: \(etag)", drive
    ).receiveAll()
    let answer = String(decoding: bytes, as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.hasSuffix("\r\n\r\n" + text))
    #expect(answer.contains("Content-Range: ") == (range != nil))
    #expect(range.map(answer.contains) ?? true)
    await drive.sandbox.stop()
  }

  @Test func `a sandbox that ignores If-Range sends a part of a changed file`() async throws {
    let (drive, content) = try await drive()
    drive.sandbox.misbehave(at: .driveContent, .ignoring("If-Range"))
    let answer = try await drive.send(
      "GET", content, [("Range", "bytes=5-"), ("If-Range", "\"old\"")])
    #expect(answer.status == 206 && answer.text == "56789")
    drive.sandbox.misbehave(at: .driveContent, .field("ETag", "\"another\""))
    #expect(try await drive.send("GET", content).header("etag") == "\"another\"")
    await drive.sandbox.stop()
  }

  @Test func `the sandbox can reset or stall a download`() async throws {
    let (drive, content) = try await drive()
    drive.sandbox.misbehave(at: .driveContent, .cut(afterBodyBytes: 3, reset: true))
    await #expect(throws: LoopbackError.system(errno: ECONNRESET)) {
      try await drive.send("GET", content)
    }
    drive.sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 3))
    let connection = try await bytes("GET \(content)", "X: y", drive)
    var answer = ""
    while !answer.hasSuffix("\r\n\r\n012") {
      answer += String(decoding: try await connection.receive(), as: UTF8.self)
    }
    #expect(answer.contains("Content-Length: 10\r\n"))
    await #expect(throws: LoopbackError.system(errno: ETIMEDOUT)) {
      try await connection.receive(within: .milliseconds(50))
    }
    // A client that waits for a stalled answer does not delay the stop of the sandbox.
    await drive.sandbox.stop()
  }

  @Test func `a next link can point to another site`() async throws {
    let (drive, _) = try await drive()
    let link = "https://evil.example/?pageToken=x"
    drive.sandbox.misbehave(at: .driveFiles, .field("Link", "<\(link)>; rel=\"next\""))
    drive.sandbox.misbehave(at: .driveFiles, .member("nextLink", .string(link)))
    #expect(try await drive.send("GET", "/drive/v2/files").links == ["next": link])
    #expect(try await drive.page().nextLink == link)
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    (SandboxMisbehaviour.bearerError("invalid_token"), "HTTP/1.1 401 "),
    (.status(500), "HTTP/1.1 500 "), (.cut(.beforeProcessing), ""),
    (.delay(.milliseconds(10), then: .unavailable(retryAfter: 1)), "HTTP/1.1 503 "),
  ])
  func `an upload can be answered before its body is read`(
    misbehaviour: SandboxMisbehaviour, start: String
  ) async throws {
    let (drive, _) = try await drive()
    drive.sandbox.misbehave(at: .driveUpload, .unread(misbehaviour))
    let connection = try await bytes("POST \(upload)", "Content-Length: 5", drive)
    let answer = String(decoding: try await connection.receiveAll(), as: UTF8.self)
    #expect(start.isEmpty ? answer.isEmpty : answer.hasPrefix(start))
    let request = try #require(drive.sandbox.requests(to: .driveUpload).first)
    #expect(request.hasUnreadBody)
    #expect(try await drive.send("POST", upload, body: Data("abc".utf8)).status == 201)
    await drive.sandbox.stop()
  }

  @Test func `the sandbox can reset the connection during an upload`() async throws {
    let (drive, _) = try await drive()
    drive.sandbox.misbehave(
      at: .driveUpload, .unread(.cut(.beforeProcessing, reset: true)))
    let error = await #expect(throws: LoopbackError.self) {
      try await drive.send("POST", upload, body: Data(count: 8 << 20))
    }
    #expect(error == .system(errno: ECONNRESET) || error == .system(errno: EPIPE))
    #expect(drive.sandbox.files().count == 6)
    await drive.sandbox.stop()
  }

  /// Sends a request head and returns its connection, from which the test reads the unparsed
  /// answer.
  private func bytes(
    _ start: String, _ fields: String, _ drive: DriveClient
  ) async throws -> LoopbackConnection {
    let port = UInt16(try #require(drive.sandbox.issuer.port))
    let connection = try await LoopbackConnection(port: port)
    let head = """
      \(start) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(drive.token)\r
      Connection: close\r\n\(fields)\r\n\r\n
      """
    try await connection.send(Data(head.utf8))
    return connection
  }
}

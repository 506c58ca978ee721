import FoundationEssentials
import OAuthSandbox
import SQLoopback
import TestSupport
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DriveUploadTests {
  private let upload = "/upload/drive/v2/files"

  @Test func `uploaded bytes become a file, and a second upload replaces its content`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    #expect(
      sandbox.driveUploadURL.absoluteString == sandbox.issuer.absoluteString + "/upload/drive/v2")
    let bytes = pattern(300_000)
    let answer = try await drive.send(
      "POST", upload + "?title=a%20b.bin", [("Content-Type", "image/x-y")], body: bytes)
    let file = try answer.decoded(FileJSON.self)
    #expect(answer.status == 201 && file.title == "a b.bin" && file.mimeType == "image/x-y")
    #expect(file.fileSize == "300000")
    #expect(answer.header("location")?.hasSuffix("/drive/v2/files/" + file.id) == true)
    #expect(sandbox.files().last?.content == bytes)
    let download = "/drive/v2/files/\(file.id)?alt=media"
    #expect(file.downloadUrl == sandbox.issuer.absoluteString + download)
    #expect(try await drive.send("GET", download).body == bytes)
    let replaced = try await drive.send("PUT", upload + "/" + file.id, body: Data("x".utf8))
    let new = try replaced.decoded(FileJSON.self)
    #expect(replaced.status == 200 && new.title == "a b.bin" && new.fileSize == "1")
    #expect(new.mimeType == "application/octet-stream")
    let form = "a=b&c=%F&access_token=x"
    let plain = try await drive.send(
      "POST", upload, [("Content-Type", "application/x-www-form-urlencoded")],
      body: Data(form.utf8))
    #expect(try plain.decoded(FileJSON.self).title == "Untitled")
    #expect(sandbox.files().last?.content == Data(form.utf8), "a form is a file like any other")
    await sandbox.stop()
  }

  @Test func `a file that does not fit is rejected, and a replacement frees the old size`()
    async throws
  {
    var options = SandboxOptions()
    options.driveBytes = 1000
    options.drivesHaveDocuments = false
    let sandbox = try await SandboxServer.start(options)
    let drive = DriveClient(sandbox)
    let first = try await drive.send("POST", upload, body: pattern(900))
    let id = try first.decoded(FileJSON.self).id
    let refused = try await drive.send("POST", upload, body: pattern(101))
    #expect(refused.status == 413 && refused.driveError != nil)
    #expect(sandbox.files().count == 1)
    #expect(try await drive.send("PUT", "\(upload)/\(id)", body: pattern(1000)).status == 200)
    #expect(try await drive.send("PUT", "\(upload)/\(id)", body: pattern(1001)).status == 413)
    #expect(sandbox.files().first?.content.count == 1000)
    #expect(try await drive.send("GET", "/drive/v2/about").text.contains(#"Used":"1000""#))
    _ = try await drive.send("DELETE", "/drive/v2/files/\(id)")
    #expect(try await drive.send("POST", upload, body: pattern(1000)).status == 201)
    let bob = DriveClient(sandbox, for: "bob")
    #expect(try await bob.send("POST", upload, body: pattern(1000)).status == 201)
    await sandbox.stop()
  }

  @Test func `a large file arrives complete, in one piece or in chunks`() async throws {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    let bytes = Data(repeating: 0x61, count: 24 << 20) + pattern(1000)
    let type = "multipart/form-data; boundary=b"
    let body =
      Data("--b\r\nContent-Disposition: form-data; name=file; filename=f\r\n\r\n".utf8) + bytes
      + Data("\r\n--b--\r\n".utf8)
    let parts = try await drive.send("POST", upload, [("Content-Type", type)], body: body)
    #expect(parts.status == 201)
    #expect(sandbox.files().last?.content == bytes)
    let request = try #require(sandbox.requests.last)
    #expect(request.body.isEmpty && request.bodyLength == body.count, "the log has no copy")
    let chunked = try await exchange(
      "Transfer-Encoding: chunked",
      body: Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n0\r\n\r\n".utf8),
      drive)
    #expect(chunked.status == 201)
    #expect(sandbox.files().last?.content == bytes)
    await sandbox.stop()
  }

  @Test(arguments: ["Content-Length: 40000000", "Content-Length: 9\r\nExpect: 100-continue"])
  func `an upload with an invalid token is rejected before its body arrives`(fields: String)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    sandbox.expireAccessTokens()
    let answer = try await exchange(fields, drive)
    #expect(answer.status == 401)
    #expect(answer.header("www-authenticate")?.contains("invalid_token") == true)
    #expect(answer.header("connection") == "close")
    let request = try #require(sandbox.requests.last)
    #expect(request.hasUnreadBody && request.endpoint == .driveUpload)
    await sandbox.stop()
  }

  @Test func `an upload that is too large is rejected with JSON before its body arrives`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let answer = try await exchange("Content-Length: 80000000", DriveClient(sandbox))
    #expect(answer.status == 413)
    #expect(answer.driveError == "The drive has no room for this file.")
    #expect(sandbox.files().count == 5)
    await sandbox.stop()
  }

  @Test func `a small upload with an invalid token is read and recorded before it is rejected`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    sandbox.expireAccessTokens()
    let answer = try await drive.send("POST", upload, body: Data("abc".utf8))
    #expect(answer.status == 401)
    let request = try #require(sandbox.requests.last)
    #expect(request.body == Data("abc".utf8) && !request.hasUnreadBody)
    await sandbox.stop()
  }

  @Test func `with a valid token, a client that expects 100-continue gets a 100 Continue response`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    let port = UInt16(try #require(sandbox.issuer.port))
    let connection = try await LoopbackConnection(port: port)
    let head = head("Content-Length: 3\r\nExpect: 100-continue", drive)
    try await connection.send(head)
    let interim = try await connection.receive()
    #expect(String(decoding: interim, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
    try await connection.send(Data("abc".utf8))
    let answer = try #require(LoopbackAnswer(try await connection.receiveAll()))
    #expect(answer.status == 201)
    #expect(sandbox.files().last?.content == Data("abc".utf8))
    await sandbox.stop()
  }

  private func head(_ fields: String, _ drive: DriveClient) -> Data {
    let host = drive.sandbox.issuer.absoluteString.dropFirst("http://".count)
    return Data(
      """
      POST \(upload) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(drive.token)\r
      Connection: close\r\n\(fields)\r\n\r\n
      """.utf8)
  }

  /// Sends a head and an optional body, and returns the answer.
  private func exchange(
    _ fields: String, body: Data = Data(), _ drive: DriveClient
  ) async throws -> LoopbackAnswer {
    let port = UInt16(try #require(drive.sandbox.issuer.port))
    let connection = try await LoopbackConnection(port: port)
    try await connection.send(head(fields, drive) + body)
    return try #require(LoopbackAnswer(try await connection.receiveAll()))
  }
}

import FoundationEssentials
import OAuthSandbox
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DriveContentTests {
  /// Starts a drive with an additional file of ten bytes and returns the path of its content.
  private func drive(_ content: String = "0123456789") async throws -> (DriveClient, String) {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_463_563_800.75) }
    let sandbox = try await SandboxServer.start(options)
    let file = sandbox.addFile(
      "a \"ü\".txt", contentType: "text/plain; charset=utf-8", content: Data(content.utf8))
    return (DriveClient(sandbox), "/drive/v2/files/\(file.id)?alt=media")
  }

  @Test func `a complete download has the headers that a later range request needs`() async throws {
    let (drive, path) = try await drive()
    let answer = try await drive.send("GET", path)
    #expect(answer.status == 200 && answer.text == "0123456789")
    #expect(answer.header("content-type") == "text/plain; charset=utf-8")
    #expect(answer.header("content-length") == "10")
    #expect(answer.header("accept-ranges") == "bytes")
    #expect(answer.header("last-modified") == "Wed, 18 May 2016 09:30:00 GMT")
    #expect(
      answer.header("content-disposition") == "attachment; filename*=UTF-8''a%20%22%C3%BC%22.txt")
    let etag = try #require(answer.header("etag"))
    #expect(etag == drive.sandbox.files().last?.etag)
    #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.count > 20)
    let head = try await drive.send("HEAD", path, [("Range", "bytes=0-1")])
    #expect(head.status == 200 && head.body.isEmpty)
    #expect(head.headers.map(\.name) == answer.headers.map(\.name))
    #expect(head.headers.map(\.value) == answer.headers.map(\.value))
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    ("bytes=0-3", "0-3", "0123"), ("bytes=4-", "4-9", "456789"), ("bytes=-3", "7-9", "789"),
    ("bytes=9-9", "9-9", "9"), ("bytes=0-99", "0-9", "0123456789"),
    ("bytes=-99", "0-9", "0123456789"), ("Bytes=3-4", "3-4", "34"), ("bytes= 3-4 ", "3-4", "34"),
    ("bytes=0-99999999999999999999999", "0-9", "0123456789"),
    ("bytes=0-9223372036854775807", "0-9", "0123456789"),
  ])
  func `a single range gets a partial answer`(
    range: String, place: String, text: String
  ) async throws {
    let (drive, path) = try await drive()
    let answer = try await drive.send("GET", path, [("Range", range)])
    #expect(answer.status == 206 && answer.text == text)
    #expect(answer.header("content-range") == "bytes \(place)/10")
    #expect(answer.header("content-length") == "\(text.utf8.count)")
    #expect(answer.header("etag") != nil && answer.header("last-modified") != nil)
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    "bytes=0-1,4-5", "bytes=3-2", "bytes=", "bytes=-", "bytes=a-b", "bytes=1-2-3", "bytes",
    "items=0-1",
    "bytes=+1-2", "bytes=1 -2", "bytes=--1",
  ])
  func `a range that is invalid or multiple gets the complete content`(range: String) async throws {
    let (drive, path) = try await drive()
    let answer = try await drive.send("GET", path, [("Range", range)])
    #expect(answer.status == 200 && answer.text == "0123456789")
    #expect(answer.header("content-range") == nil)
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    ("0123456789", "bytes=10-"), ("0123456789", "bytes=10-20"), ("0123456789", "bytes=-0"),
    ("0123456789", "bytes=99999999999999999999-"), ("", "bytes=0-"), ("", "bytes=-1"),
  ])
  func `a range outside the content gets status 416`(
    content: String, range: String
  ) async throws {
    let (drive, path) = try await drive(content)
    let answer = try await drive.send("GET", path, [("Range", range)])
    #expect(answer.status == 416 && answer.driveError != nil)
    #expect(answer.header("content-range") == "bytes */\(content.utf8.count)")
    await drive.sandbox.stop()
  }

  @Test func `a range applies only if If-Range matches the file`() async throws {
    let (drive, path) = try await drive()
    let file = try #require(drive.sandbox.files().last)
    let etag = file.etag
    let date = "Wed, 18 May 2016 09:30:00 GMT"
    for (condition, status) in [
      (etag, 206), (date, 206), ("W/" + etag, 200), ("\"other\"", 200), ("*", 200),
      ("Wed, 18 May 2016 09:30:01 GMT", 200),
    ] {
      let answer = try await drive.send(
        "GET", path, [("Range", "bytes=5-"), ("If-Range", condition)])
      #expect(answer.status == status, "\(condition)")
      #expect(answer.text == (status == 206 ? "56789" : "0123456789"))
    }
    drive.sandbox.advance(by: .seconds(1))
    let changed = drive.sandbox.replaceContent(of: file.id, with: Data("9876543210".utf8))
    #expect(changed?.etag != etag && changed?.contentType == file.contentType)
    for condition in [etag, date] {
      let answer = try await drive.send(
        "GET", path, [("Range", "bytes=5-"), ("If-Range", condition)])
      #expect(answer.status == 200 && answer.text == "9876543210")
    }
    let back = drive.sandbox.replaceContent(of: file.id, with: Data("0123456789".utf8))
    #expect(back?.etag == etag, "the same content has the same tag")
    await drive.sandbox.stop()
  }

  @Test func `content that the client already has gets status 304`() async throws {
    let (drive, path) = try await drive()
    let etag = try #require(drive.sandbox.files().last?.etag)
    for known in [etag, "W/" + etag, "*", "\"a\", \(etag)"] {
      let answer = try await drive.send(
        "GET", path, [("If-None-Match", known), ("Range", "bytes=99-")])
      #expect(answer.status == 304 && answer.body.isEmpty, "\(known)")
      #expect(answer.header("etag") == etag && answer.header("content-length") == nil)
    }
    let lines = [(name: "If-None-Match", value: "\"a\""), ("If-None-Match", etag)]
    #expect(try await drive.send("HEAD", path, lines).status == 304)
    #expect(try await drive.send("GET", path, [("If-None-Match", "\"a\"")]).status == 200)
    await drive.sandbox.stop()
  }
}

import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Multipart forms as sent, byte by byte.
@Suite(.timeLimit(.minutes(1))) struct MultipartFormTests {
  let client = CurlTransport()
  let folder: TemporaryFolder
  let server: Server

  init() throws {
    folder = try TemporaryFolder()
    server = try Server.answering()
  }

  private func file(_ name: String, _ content: Data) throws -> URL {
    let url = URL(filePath: folder.file(name))
    try content.write(to: url)
    return url
  }

  private func request(_ form: MultipartForm) throws -> WebRequest {
    var request = try server.request("POST")
    try request.setForm(form)
    return request
  }

  /// Sends a form and returns what arrived, with the random boundary replaced by `B`.
  private func send(_ form: MultipartForm) async throws -> String {
    #expect(try await client.send(try request(form)).status == 200)
    let seen = try #require(server.requests.last)
    let type = try #require(seen.header("content-type"))
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = try #require(type.split(separator: "=").last)
    return String(decoding: seen.body, as: UTF8.self)
      .replacingOccurrences(of: boundary, with: "B")
  }

  @Test func `parts are sent in order, each with its header`() async throws {
    let text = try await send([
      .field("title", "Ünïcode\r\n& more"),
      .file("photo", try file("a b.txt", Data("from a file".utf8)), contentType: "text/plain"),
      .data("blob", Data([0x31, 0x32])),
      .stream("live", filename: "l.txt", length: 3) { OneChunk("abc").next },
    ])
    #expect(
      text == """
        --B\r
        Content-Disposition: form-data; name="title"\r
        \r
        Ünïcode\r
        & more\r
        --B\r
        Content-Disposition: form-data; name="photo"; filename="a b.txt"\r
        Content-Type: text/plain\r
        \r
        from a file\r
        --B\r
        Content-Disposition: form-data; name="blob"\r
        Content-Type: application/octet-stream\r
        \r
        12\r
        --B\r
        Content-Disposition: form-data; name="live"; filename="l.txt"\r
        Content-Type: application/octet-stream\r
        \r
        abc\r
        --B--\r

        """)
    #expect(server.requests.last?.header("content-length") != nil)
  }

  @Test func `a form without parts contains only the final boundary`() async throws {
    #expect(try await send([]) == "--B--\r\n")
  }

  @Test func `each form has its own boundary of 22 random characters`() throws {
    let types = try (0..<50).map { _ in try #require(try request([]).headers["Content-Type"]) }
    #expect(Set(types).count == 50)
    #expect(types.allSatisfy { $0.count == "multipart/form-data; boundary=".count + 22 })
  }

  @Test(arguments: [
    (#"a"b"#, "a%22b"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"),
    (#"a\b%22"#, #"a\b%22"#), ("日本 é", "日本 é"), ("", ""),
  ])
  func `names are escaped as HTML specifies`(name: String, escaped: String) async throws {
    let text = try await send([.data(name, Data(), filename: name)])
    #expect(text.contains("; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"))
  }

  @Test(arguments: ["a\0b", "a\tb", "\u{7F}", "\u{1B}[31m"])
  func `a name with a control character other than CR and LF is rejected`(name: String) throws {
    failure(.malformedRequest) { try request([.field(name, "")]) }
    failure(.malformedRequest) { try request([.data("a", Data(), filename: name)]) }
  }

  @Test(arguments: ["", "text/plain\r\nX: y", "tëxt/plain", "a\0"])
  func `a content type with invalid characters is rejected`(type: String) throws {
    failure(.malformedRequest) { try request([.data("a", Data(), contentType: type)]) }
  }

  @Test(arguments: ["missing", ".", "pipe"])
  func `a file that cannot be sent is rejected and named`(name: String) throws {
    let url = URL(filePath: folder.file(name))
    if name == "pipe" { #expect(mkfifo(url.path, 0o600) == 0) }
    let error = failure(.malformedRequest) { try request([.file("a", url)]) }
    #expect(error?.message.contains(folder.file("")) == true)
    #expect(error?.cause is FileError)
  }

  @Test(arguments: [-1, .min, .max] as [Int64])
  func `a negative or too large stream length is rejected`(length: Int64) throws {
    failure(.malformedRequest) {
      try request([.stream("a", length: length) { { nil } }])
    }
  }

  @Test func `a rejected form leaves the request unchanged`() throws {
    var request = try request([.field("a", "b")])
    let before = request.headers
    failure { try request.setForm([.field("\0", "")]) }
    #expect(request.headers == before)
    guard case .bytes = request.body else {
      Issue.record("the request has another body")
      return
    }
  }

  @Test func `a stream of unknown length makes the form's length unknown`() async throws {
    let text = try await send([.stream("a") { OneChunk("abc").next }, .field("b", "c")])
    #expect(text.contains("\r\n\r\nabc\r\n--B\r\n"))
    #expect(server.requests.last?.header("content-length") == nil)
    #expect(server.requests.last?.header("transfer-encoding") == "chunked")
  }

  @Test(arguments: [2, 4] as [Int64])
  func `a stream with a wrong length ends the request`(length: Int64) async throws {
    let request = try request([
      .stream("a", length: length) { OneChunk("abc").next }, .field("b", "c"),
    ])
    await failure(.malformedRequest) { try await client.send(request) }
    #expect(server.requests.isEmpty)
  }

  @Test func `a stream that is too long does not compensate for one that is too short`()
    async throws
  {
    let request = try request([
      .stream("a", length: 2) { OneChunk("abc").next },
      .stream("b", length: 4) { OneChunk("abc").next },
    ])
    let error = await failure(.malformedRequest) { try await client.send(request) }
    #expect(error?.message.contains("the part a") == true)
    #expect(server.requests.isEmpty)
  }

  @Test func `a growing file is sent up to its announced length`() async throws {
    let url = try file("log", Data("0123456789".utf8))
    let request = try request([.file("a", url)])
    let handle = try FileHandle(forWritingTo: url)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("more".utf8))
    try handle.close()
    _ = try await client.send(request)
    let body = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
    #expect(body.contains("\r\n\r\n0123456789\r\n--"))
  }

  @Test(arguments: [0, 400_000])
  func `a file that shrinks or disappears ends the request and is named`(size: Int) async throws {
    let url = try file("shrinks", Data(count: 600_000))
    let request = try request([.file("a", url)])
    if size == 0 {
      try FileManager.default.removeItem(at: url)
    } else {
      #expect(truncate(url.path, off_t(size)) == 0)
    }
    let error = await failure(.malformedRequest) { try await client.send(request) }
    #expect(error?.message.contains(url.path) == true)
    #expect(server.requests.isEmpty)
  }

  @Test func `printing a form shows none of its content`() throws {
    let form: MultipartForm = [.field("token", "SECRET"), .data("b", Data("SECRET".utf8))]
    var dumped = ""
    dump(form, to: &dumped)
    dump(form.parts[0], to: &dumped)
    dump(try request(form), to: &dumped)
    #expect(!"\(form) \(form.parts) \(dumped)".contains("SECRET"))
  }
}

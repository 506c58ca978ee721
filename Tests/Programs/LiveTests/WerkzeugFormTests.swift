import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

/// Multipart forms as parsed by werkzeug, the library of Flask.
@Suite(
  .timeLimit(.minutes(2)),
  .requires("python3-werkzeug") {
    try await ChildProcess.run(["/usr/bin/python3", "-c", "import werkzeug.serving"]).status == 0
  })
struct WerkzeugFormTests {
  /// The parts that the server parsed.
  private struct Found: Decodable {
    let length: String?
    let fields: [[String]]
    let files: [File]

    struct File: Decodable, Equatable {
      let name: String
      let filename: String
      let contentType: String
      let sha256: String
    }
  }

  private func send(
    _ form: MultipartForm, times: Int = 1
  ) async throws -> (found: Found, request: WebRequest) {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Servers/werkzeug/forms").path
    let server = try ChildProcess([script], input: .open)
    let port = try await server.line(after: "PORT=")
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    var request = WebRequest(method: "POST", url: url)
    try request.setForm(form)
    var response = WebResponse(status: 500)
    for _ in 0..<times { response = try await CurlTransport.shared.send(request) }
    #expect(response.status == 200, "\(server.errors)")
    await server.stop()
    return (try JSONDecoder().decode(Found.self, from: response.body), request)
  }

  private func digest(_ data: Data) async throws -> String {
    let folder = try TemporaryFolder()
    try data.write(to: URL(filePath: folder.file("data")))
    let output = try await ChildProcess.run(["sha256sum", folder.file("data")]).output
    return String(output.prefix(64))
  }

  private func chunks(_ all: [Data]) -> @Sendable () -> @Sendable () async throws -> Data? {
    {
      let (chunks, source) = AsyncStream.makeStream(of: Data.self)
      for chunk in all { source.yield(chunk) }
      source.finish()
      return {
        for await chunk in chunks { return chunk }
        return nil
      }
    }
  }

  @Test func `every kind of part is parsed correctly`() async throws {
    let folder = try TemporaryFolder()
    // Content that begins like framing: with line breaks and a boundary.
    let bytes = Data("\r\n--boundary\r\n\r\n\n".utf8) + pattern(700_000)
    let file = URL(filePath: folder.file("Bericht № 1.pdf"))
    try bytes.write(to: file)
    let (found, _) = try await send([
      .field("title", "Ünïcode & =;\"'"), .field("title", "a second one"), .field("empty", ""),
      .field("lines", "a\r\nb\nc\r\n"),
      .file("report", file, contentType: "application/pdf"),
      .data("blob", bytes.prefix(100), filename: "b.bin"),
      .data("nothing", Data(), filename: "0"),
      .stream("live", filename: "l", contentType: "text/plain; charset=utf-8", length: 5) {
        chunks([Data("ab".utf8), Data(), Data("cde".utf8)])()
      },
      .field("日本", "name"),
    ])
    #expect(
      found.fields == [
        ["title", "Ünïcode & =;\"'"], ["title", "a second one"], ["empty", ""],
        ["lines", "a\r\nb\nc\r\n"], ["日本", "name"],
      ])
    #expect(
      found.files == [
        Found.File(
          name: "report", filename: "Bericht № 1.pdf", contentType: "application/pdf",
          sha256: try await digest(bytes)),
        Found.File(
          name: "blob", filename: "b.bin", contentType: "application/octet-stream",
          sha256: try await digest(bytes.prefix(100))),
        Found.File(
          name: "nothing", filename: "0", contentType: "application/octet-stream",
          sha256: try await digest(Data())),
        Found.File(
          name: "live", filename: "l", contentType: "text/plain; charset=utf-8",
          sha256: try await digest(Data("abcde".utf8))),
      ])
  }

  @Test func `field names and file names are encoded as a browser encodes them`() async throws {
    let (found, _) = try await send([
      .data(#"a"b\c"#, Data(), filename: "x\"y\r\nz; filename=evil"),
      .field("x\"; filename=\"evil", "field"),
    ])
    // Werkzeug decodes %22 since 3.0.
    let decodesQuotes = found.files.first?.name.contains("%22") == false
    let quote = decodesQuotes ? "\"" : "%22"
    #expect(found.files.map(\.name) == ["a\(quote)b\\c"])
    #expect(found.files.map(\.filename) == ["x\(quote)y%0D%0Az; filename=evil"])
    #expect(found.fields == [["x\(quote); filename=\(quote)evil", "field"]])
  }

  @Test func `a form of unknown length is sent in chunks and can be sent again`() async throws {
    let pieces = (0..<10).map { Data(repeating: UInt8($0), count: 30_000) }
    let (found, request) = try await send(
      [.stream("live", filename: "l", makeChunks: chunks(pieces)), .field("a", "b")], times: 2)
    #expect(found.length == nil)
    #expect(found.fields == [["a", "b"]])
    #expect(found.files.map(\.sha256) == [try await digest(pieces.reduce(Data(), +))])
    #expect(request.isReplayable)
  }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145])
  func `files and data with sizes near a chunk limit arrive complete`(size: Int) async throws {
    let folder = try TemporaryFolder()
    let bytes = pattern(size)
    let file = URL(filePath: folder.file("f"))
    try bytes.write(to: file)
    let (found, _) = try await send([
      .data("d", bytes, filename: "d"), .file("f", file), .field("a", "b"),
    ])
    let digest = try await digest(bytes)
    #expect(found.files.map(\.sha256) == [digest, digest])
    #expect(found.fields == [["a", "b"]])
  }
}

import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Compressed, chunked and partial content from nginx.
@Suite(.requires(.nginx), .timeLimit(.minutes(1))) struct NginxContentTests {
  /// One entry of nginx's folder list.
  private struct Entry: Decodable {
    let name: String
    let type: String
    let size: Int?
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `compressed JSON is decompressed, and the size limit applies to the decompressed size`(
    way: NginxFixture.Way
  ) async throws {
    try await NginxFixture.running { fixture in
      let content = Data(#"["\#(String(repeating: "abcdefgh", count: 20_000))"]"#.utf8)
      try fixture.write(content, "files/a.json")
      let request = try fixture.request("GET", "/files/a.json", way)
      let response = try await fixture.module.send(request)
      #expect(response.body == content && response.headers["Content-Encoding"] == "gzip")
      #expect(response.headers["Content-Length"] == nil)
      let sent = try #require(try await fixture.nginx.requests().first)
      #expect(sent.contentSent < content.count / 20)

      // The limit applies to the decompressed size.
      var small = request
      small.maximumResponseBytes = Int64(content.count - 1)
      #expect(await fixture.failure(small)?.code == .responseTooLarge)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a chunked JSON list of a folder is received completely`(way: NginxFixture.Way) async throws
  {
    try await NginxFixture.running { fixture in
      for index in 0..<200 { try fixture.write(Data(count: index), "files/\(index)-é.bin") }
      let response = try await fixture.module.send(fixture.request("GET", "/files", way))
      #expect(response.status == 200 && response.headers["Content-Type"] == "application/json")
      #expect(response.headers["Transfer-Encoding"] == (way == .http1 ? "chunked" : nil))
      let entries = try JSONDecoder().decode([Entry].self, from: response.body)
      #expect(entries.count == 200 && entries.allSatisfy { $0.type == "file" })
      #expect(Set(entries.map(\.name)) == Set((0..<200).map { "\($0)-é.bin" }))
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a valid range gets a 206 answer, and a range beyond the end gets a 416 answer`(
    way: NginxFixture.Way
  ) async throws {
    let folder = try TemporaryFolder()
    let content = pattern(100_000)
    try await NginxFixture.running { fixture in
      try fixture.write(content, "files/a.bin")
      var request = try fixture.request("GET", "/files/a.bin", way)
      let whole = try await fixture.module.send(request)
      #expect(whole.headers["Accept-Ranges"] == "bytes")
      let tag = try #require(whole.headers["ETag"])

      request.headers["Range"] = "bytes=99000-"
      request.headers["If-Range"] = tag
      request.destination = .file(URL(filePath: folder.file("part")))
      let part = try await fixture.module.send(request)
      #expect(part.status == 206)
      #expect(part.headers["Content-Range"] == "bytes 99000-99999/100000")
      let url = URL(filePath: folder.file("part"))
      #expect(try Data(contentsOf: url) == content.suffix(1000))

      request.headers["If-Range"] = #""another""#
      request.destination = .memory
      let changed = try await fixture.module.send(request)
      #expect(changed.status == 200 && changed.body == content)

      request.headers["If-Range"] = nil
      request.headers["Range"] = "bytes=100000-"
      let beyond = try await fixture.module.send(request)
      #expect(beyond.status == 416 && beyond.headers["Content-Range"] == "bytes */100000")

      request.headers["Range"] = nil
      request.headers["If-None-Match"] = tag
      let same = try await fixture.module.send(request)
      #expect(same.status == 304 && same.body.isEmpty)
      #expect(try await fixture.nginx.requests().map(\.range).filter { !$0.isEmpty }.count == 3)
    }
  }

  @Test func `a redirect is returned and not followed with the token`() async throws {
    try await NginxFixture.running { fixture in
      try FileManager.default.createDirectory(
        at: fixture.nginx.file("files/d"), withIntermediateDirectories: false)
      let response = try await fixture.module.send(fixture.request("GET", "/files/d"))
      #expect(response.status == 301)
      #expect(response.headers["Location"]?.hasSuffix("/files/d/") == true)
      #expect(try await fixture.log() == ["GET /files/d 301"])
    }
  }
}

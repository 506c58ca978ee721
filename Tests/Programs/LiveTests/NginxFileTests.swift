import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// How a WebDAV server handles the client's methods and bodies.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxFileTests {
  private static let content = pattern(5_000_003)

  @Test(.ownThreads, arguments: NginxFixture.Way.allCases)
  func `WebDAV requests create, copy, move and delete files`(way: NginxFixture.Way) async {
    // A separate process: connections of other tests could push out a kept connection.
    await #expect(processExitsWith: .success) { [way = way as NginxFixture.Way] in
      try await NginxFixture.running { fixture in
        func send(
          _ method: String, _ path: String, to destination: String? = nil,
          _ body: WebRequestBody = .empty
        ) async throws -> WebResponse {
          var request = try fixture.request(method, "/files/\(path)", way, body: body)
          request.headers["Destination"] = destination.map { "/files/\($0)" }
          return try await fixture.module.send(request)
        }
        let text = WebRequestBody.bytes(Data("hello".utf8))
        #expect(try await send("MKCOL", "d/").status == 201)
        #expect(try await send("PUT", "d/a.txt", text).status == 201)
        #expect(try await send("PUT", "d/a.txt", text).status == 204)
        let head = try await send("HEAD", "d/a.txt")
        #expect(head.status == 200 && head.body.isEmpty && head.headers["Content-Length"] == "5")
        #expect(try await send("COPY", "d/a.txt", to: "d/b.txt").status == 204)
        #expect(try await send("MOVE", "d/b.txt", to: "c.txt").status == 204)
        #expect(try await send("GET", "c.txt").body == Data("hello".utf8))
        #expect(try await send("GET", "d/b.txt").status == 404)
        let deleted = try await send("DELETE", "d/a.txt")
        #expect(deleted.status == 204 && deleted.body.isEmpty)
        #expect(try await send("DELETE", "d/a.txt").status == 404)
        #expect(try await send("PUT", "d/", text).status == 409)
        #expect(try await send("DELETE", "d/").status == 204)
        #expect(try await send("POST", "c.txt", text).status == 405)
        let requests = try await fixture.nginx.requests()
        #expect(requests.count == 13 && requests.allSatisfy { $0.isAuthorized && $0.isComplete })
        // Over HTTP/2, requests that must not be repeated use their own connection.
        #expect(Set(requests.map(\.connection)).count == (way == .http1 ? 1 : 2))
      }
    }
  }

  /// The sources of a request body.
  enum Source: CaseIterable, Sendable { case memory, file, stream, streamOfUnknownLength }

  private static func body(_ source: Source, in folder: TemporaryFolder) throws -> WebRequestBody {
    switch source {
    case .memory: return .bytes(content)
    case .file:
      let url = URL(filePath: folder.file("body"))
      try content.write(to: url)
      return .file(url)
    case .stream, .streamOfUnknownLength:
      return .stream(length: source == .stream ? Int64(content.count) : nil) {
        let pieces = Pieces(content)
        return { await pieces.next() }
      }
    }
  }

  /// A body that is read piece by piece.
  private actor Pieces {
    private var rest: Data

    init(_ content: Data) { rest = content }

    func next() -> Data? {
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(70_000) }
      return Data(rest.prefix(70_000))
    }
  }

  @Test(arguments: Source.allCases, NginxFixture.Way.allCases)
  func `a request body arrives complete, also when it is sent again after a 401`(
    source: Source, way: NginxFixture.Way
  ) async throws {
    let folder = try TemporaryFolder()
    try await NginxFixture.running { fixture in
      let body = try Self.body(source, in: folder)
      let first = try fixture.request("PUT", "/files/a.bin", way, body: body)
      #expect(try await fixture.module.send(first).status == 201)
      #expect(try Data(contentsOf: fixture.nginx.file("files/a.bin")) == Self.content)

      try await fixture.revokeAccessToken()
      let second = try fixture.request("PUT", "/files/b.bin", way, body: body)
      #expect(try await fixture.module.send(second).status == 201)
      #expect(try Data(contentsOf: fixture.nginx.file("files/b.bin")) == Self.content)
      let requests = try await fixture.nginx.requests(atLeast: 3)
      #expect(requests.map(\.status).sorted() == [201, 201, 401])
      #expect(fixture.refreshes.count == 1)
    }
  }

  @Test(arguments: Source.allCases)
  func `a request body is sent completely twice if nginx checks the token only after the body`(
    source: Source
  ) async throws {
    let folder = try TemporaryFolder()
    try await NginxFixture.running { fixture in
      try await fixture.revokeAccessToken()
      let request = try fixture.request(
        "PUT", "/buffered/a.bin", body: Self.body(source, in: folder))
      #expect(try await fixture.module.send(request).status == 201)
      #expect(try await fixture.log() == ["PUT /buffered/a.bin 401", "PUT /buffered/a.bin 201"])
      #expect(try fixture.nginx.bufferedBodies == [Self.content, Self.content])
      #expect(try Data(contentsOf: fixture.nginx.file("files/a.bin")) == Self.content)
      #expect(fixture.refreshes.count == 1)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a file of 50 MB is uploaded and downloaded`(way: NginxFixture.Way) async throws {
    let folder = try TemporaryFolder()
    let (source, copy) = (URL(filePath: folder.file("a")), URL(filePath: folder.file("b")))
    let content = Data(repeating: 0x5A, count: 50_000_000)
    try content.write(to: source)
    try await NginxFixture.running { fixture in
      let upload = try fixture.request("PUT", "/files/a.bin", way, body: .file(source))
      #expect(try await fixture.module.send(upload).status == 201)
      var download = try fixture.request("GET", "/files/a.bin", way)
      download.destination = .file(copy)
      #expect(try await fixture.module.send(download).status == 200)
      #expect(try Data(contentsOf: copy) == content)
    }
  }
}

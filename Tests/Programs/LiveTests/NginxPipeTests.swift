import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

/// Records on an independent server, whose log shows each request.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxPipeTests {
  /// One entry of nginx's folder list.
  private struct File: Decodable {
    let name: String
    let type: String
    let size: Int
  }

  private struct Note: Codable, Equatable {
    var id: Int
    var title: String
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a record is saved, listed, read, changed and removed`(way: NginxFixture.Way) async throws {
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe("files", way)
      let note = Note(id: 7, title: "Grüße")
      #expect(try await pipe.save(note) == .null)
      #expect(try await pipe.read(Note.self, id: 7) == note)
      try await pipe.save(Note(id: 7, title: "a"))
      let files = try await pipe.read([File].self)
      #expect(files.map(\.name) == ["7"] && files.map(\.type) == ["file"])
      #expect(files.map(\.size) == [#"{"id":7,"title":"a"}"#.utf8.count])
      #expect(try await pipe.read(id: 7) == .object(["id": .integer(7), "title": .string("a")]))
      try await pipe.remove(id: 7)
      #expect(try await pipe.read([File].self).isEmpty)
      #expect(
        try await fixture.log() == [
          "PUT /files/7 201", "GET /files/7 200", "PUT /files/7 204", "GET /files 200",
          "GET /files/7 200", "DELETE /files/7 204", "GET /files 200",
        ])
    }
  }

  @Test func `an id with reserved characters is one segment of the path`() async throws {
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe("files")
      for id in ["a b", "100%", "ä?&=+", "a.json", "...", "a/b"] {
        let record: [String: JSONValue] = ["id": .string(id)]
        try await pipe.save(record)
        #expect(try await pipe.read(id: id) == .object(record))
        #expect(FileManager.default.fileExists(atPath: fixture.nginx.file("files/\(id)").path))
        try await pipe.remove(id: id)
      }
      let targets = try await fixture.nginx.requests().map(\.target)
      #expect(targets.allSatisfy { $0.split(separator: "/").count == 2 }, "\(targets)")
      #expect(targets.suffix(3) == Array(repeating: "/files/a%2Fb", count: 3))
      // nginx decodes the path and makes a folder for the last id.
      try FileManager.default.removeItem(at: fixture.nginx.file("files/a"))
      #expect(try await pipe.read([File].self).isEmpty)
    }
  }

  // MARK: Access

  @Test(arguments: NginxFixture.Way.allCases)
  func `without a token the user signs in once, and each operation is one request`(
    way: NginxFixture.Way
  ) async throws {
    try await NginxFixture.running(isSignedIn: false) { fixture in
      let pipe = try fixture.pipe("files", way)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in 0..<20 { group.addTask { try await pipe.save(Note(id: id, title: "")) } }
        try await group.waitForAll()
      }
      let requests = try await fixture.nginx.requests()
      #expect(requests.count == 20)
      #expect(requests.allSatisfy { $0.isAuthorized && $0.status == 201 })
      #expect(fixture.refreshes.map { $0.form("grant_type") } == ["authorization_code"])
      let token = try #require(fixture.module.currentToken?.accessToken)
      #expect(fixture.sandbox.bearerTokens(at: .me) == [token: 20])
    }
  }

  @Test func `an expired token is refreshed before the request to nginx`() async throws {
    try await NginxFixture.running { fixture in
      fixture.clock.advance(by: 3600)
      fixture.sandbox.expireAccessTokens()
      _ = try await fixture.pipe("files").read()
      #expect(try await fixture.log() == ["GET /files 200"])
      #expect(fixture.refreshes.map { $0.form("grant_type") } == ["refresh_token"])
    }
  }

  @Test func `a rejected token causes one refresh and one repeated PUT, GET or DELETE`()
    async throws
  {
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe("files")
      try await fixture.revokeAccessToken()
      try await pipe.save(Note(id: 1, title: "a"))
      try await fixture.revokeAccessToken()
      _ = try await pipe.read(id: 1)
      try await fixture.revokeAccessToken()
      try await pipe.remove(id: 1)
      #expect(
        try await fixture.log() == [
          "PUT /files/1 401", "PUT /files/1 201", "GET /files/1 401", "GET /files/1 200",
          "DELETE /files/1 401", "DELETE /files/1 204",
        ])
      #expect(
        fixture.refreshes.map { $0.form("grant_type") }
          == Array(repeating: "refresh_token", count: 3)
      )
    }
  }

  @Test func `after all tokens are revoked, one operation fails and the next signs the user in`()
    async throws
  {
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe("files")
      fixture.sandbox.revokeEverything()
      let error = await #expect(throws: PipeError.self) { try await pipe.read() }
      guard case .noAccess(let cause)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(cause.code == .invalidGrant && cause.requiresSignIn)
      _ = try await pipe.read()
      #expect(try await fixture.log() == ["GET /files 401", "GET /files 200"])
      #expect(
        fixture.refreshes.map { $0.form("grant_type") } == ["refresh_token", "authorization_code"])
    }
  }

  // MARK: Rejections

  /// Runs an operation that nginx must reject, and returns nginx's answer.
  private func refusal<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ operation: () async throws(PipeError) -> Value
  ) async -> PipeError.Refusal? {
    do throws(PipeError) {
      _ = try await operation()
      Issue.record("nginx accepted the request", sourceLocation: sourceLocation)
    } catch {
      if let refusal = error.refusal { return refusal }
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
  }

  @Test func `each error response of nginx is returned without a second request`() async throws {
    try await NginxFixture.running { fixture in
      let (files, busy) = (try fixture.pipe("files"), try fixture.pipe("busy"))
      let missing = await refusal { () async throws(PipeError) in try await files.read(id: "no") }
      #expect(missing?.status == 404)
      #expect(missing?.body.starts(with: Data("<html>".utf8)) == true)
      let later = await refusal { () async throws(PipeError) in try await busy.read(id: 1) }
      #expect(later?.status == 503 && later?.head.headers["Retry-After"] == "7")
      let unnamed = await refusal { () async throws(PipeError) in
        try await files.save(["title": "a"])
      }
      #expect(unnamed?.status == 403)
      let large = Note(id: 1, title: String(repeating: "x", count: 2000))
      for way in NginxFixture.Way.allCases {
        let small = try fixture.pipe("small", way)
        let refused = await refusal { () async throws(PipeError) in try await small.save(large) }
        #expect(refused?.status == 413)
      }
      // nginx reads the rest of a rejected body before it logs the request.
      #expect(
        try await fixture.nginx.requests(atLeast: 5).map(\.description) == [
          "GET /files/no 404", "GET /busy/1 503", "POST /files 403", "PUT /small/1 413",
          "PUT /small/1 413",
        ])
      #expect(fixture.refreshes.isEmpty)
    }
  }

  @Test func `a page that is not JSON cannot be read as a record, but its bytes can be read`()
    async throws
  {
    try await NginxFixture.running { fixture in
      try fixture.write(Data("<html>".utf8), "files/a.txt")
      let pipe = try fixture.pipe("files")
      let error = await #expect(throws: PipeError.self) { try await pipe.read(id: "a.txt") }
      guard case .unreadable? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await pipe.content(id: "a.txt") == Data("<html>".utf8))
    }
  }

  @Test func `if nginx refuses a token for its scope, the error has nginx's challenge`()
    async throws
  {
    try await NginxFixture.running(asking: .files, scope: "profile") { fixture in
      let pipe = try fixture.pipe("files")
      let refusal = await refusal { () async throws(PipeError) in try await pipe.read() }
      #expect(refusal?.status == 403 && refusal?.challenge?.error == .insufficientScope)
      #expect(refusal?.challenge?.scope == "demo")
      #expect(try await fixture.log() == ["GET /files 403"])
      #expect(fixture.refreshes.isEmpty)
    }
  }
}

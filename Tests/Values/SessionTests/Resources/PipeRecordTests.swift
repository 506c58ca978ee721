import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The request of each operation, and its result.
@Suite("Pipe records", .timeLimit(.minutes(1))) struct PipeRecordTests {
  struct File: Codable, Sendable, Equatable {
    var id: String?
    var title: String
  }

  struct Numbered: Codable, Sendable {
    var id: Int?
    var name = "n"
  }

  @Test func `records can be read as an app's own type or as a JSON value`() async throws {
    let fixture = try await PipeFixture().answering(#"[{"id":"a","title":"A"},{"title":"B"}]"#)
    let files = try await fixture.pipe.read([File].self)
    #expect(files == [File(id: "a", title: "A"), File(title: "B")])
    let json = try await fixture.pipe.read()
    #expect(
      json
        == .array([
          .object(["id": .string("a"), "title": .string("A")]),
          .object(["title": .string("B")]),
        ]))
    let request = try #require(fixture.session.apiRequests.first)
    #expect(request.headers["Accept"] == "application/json")
    #expect(request.headers["Authorization"] == "Bearer T1")
  }

  @Test func `JSON values can be read in an array, as optionals and in a dictionary`() async throws
  {
    let fixture = try await PipeFixture().answering(#"[{"a":1.0},null,9007199254740993]"#)
    let elements = try await fixture.pipe.read([JSONValue].self)
    #expect(elements == [["a": 1], .null, 9_007_199_254_740_993])
    let optional = try await fixture.pipe.read([JSONValue?].self)
    #expect(optional == [["a": 1], nil, 9_007_199_254_740_993])
    let object = try await PipeFixture().answering(#"{"a":[]}"#)
    #expect(try await object.pipe.read([String: JSONValue].self) == ["a": []])
    await pipeFailure { () async throws(PipeError) in
      try await object.pipe.read([JSONValue].self)
    }
  }

  @Test func `an app's own decoder can read JSON5`() async throws {
    var configuration = PipeConfiguration()
    configuration.decoder = {
      let decoder = JSONDecoder()
      decoder.allowsJSON5 = true
      return decoder
    }
    let fixture = try await PipeFixture(configuration).answering("{title: 'A', /* no id */}")
    #expect(try await fixture.pipe.read(File.self, id: "a") == File(title: "A"))
    fixture.answering("{title: '\(String(repeating: "[", count: 40))'")
    await pipeFailure { () async throws(PipeError) in
      try await fixture.pipe.read(File.self, id: "a")
    }
  }

  @Test func `a response that is a single object is read as one record`() async throws {
    let fixture = try await PipeFixture().answering(#"{"id":"a","title":"A"}"#)
    #expect(try await fixture.pipe.read(File.self, id: "a") == File(id: "a", title: "A"))
    #expect(try await fixture.pipe.read()["title"] == "A")
  }

  @Test func `a record's ID is percent-encoded as one segment of the path`() async throws {
    let fixture = try await PipeFixture()
    _ = try await fixture.pipe.read(id: 7)
    _ = try await fixture.pipe.read(id: "a/b?c#d e")
    _ = try await fixture.pipe.read(id: "…", parameters: ["b": "2&3", "a": "1"])
    #expect(
      fixture.asked == [
        "GET https://api.example/v2/files/7",
        "GET https://api.example/v2/files/a%2Fb%3Fc%23d%20e",
        "GET https://api.example/v2/files/%E2%80%A6?a=1&b=2%263",
      ])
  }

  @Test(arguments: ["", ".", ".."])
  func `an ID that is empty or a dot segment is an error and causes no request`(id: String)
    async throws
  {
    let fixture = try await PipeFixture()
    let errors = [
      await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read(id: id) },
      await pipeFailure { () async throws(PipeError) in try await fixture.pipe.remove(id: id) },
      await pipeFailure { () async throws(PipeError) in
        try await fixture.pipe.save(File(id: id, title: "t"))
      },
    ]
    #expect(errors.allSatisfy { $0?.cause?.code == .malformedRequest })
    #expect(fixture.asked.isEmpty)
  }

  @Test func `parameters are sent in the query`() async throws {
    let fixture = try await PipeFixture()
    _ = try await fixture.pipe.read(parameters: ["q": "title = 'ä'", "maxResults": "10"])
    #expect(
      fixture.asked == [
        "GET https://api.example/v2/files?maxResults=10&q=title%20%3D%20%27%C3%A4%27"
      ])
  }

  @Test func `a record without an ID is created, and a record with an ID is updated`() async throws
  {
    let fixture = try await PipeFixture().answering(#"{"id":"new","title":"A"}"#)
    let saved = try await fixture.pipe.save(File(title: "A"), returning: File.self)
    #expect(saved == File(id: "new", title: "A"))
    try await fixture.pipe.save(saved)
    try await fixture.pipe.save(Numbered(id: 12))
    try await fixture.pipe.save(Numbered())
    try await fixture.pipe.save(JSONValue.object(["id": .null, "title": .string("x")]))
    #expect(
      fixture.asked == [
        "POST https://api.example/v2/files", "PUT https://api.example/v2/files/new",
        "PUT https://api.example/v2/files/12", "POST https://api.example/v2/files",
        "POST https://api.example/v2/files",
      ])
    let request = fixture.session.apiRequests[0]
    #expect(request.headers["Content-Type"] == "application/json")
    guard case .bytes(let body) = request.body else {
      Issue.record("the request has no body of bytes")
      return
    }
    #expect(try JSONDecoder().decode(File.self, from: body) == File(title: "A"))
  }

  @Test func `a record's ID may be any whole number`() async throws {
    struct Large: Encodable { var id: UInt64 }
    let fixture = try await PipeFixture()
    try await fixture.pipe.save(Large(id: 1 << 63))
    try await fixture.pipe.remove(Large(id: .max))
    #expect(
      fixture.asked == [
        "PUT https://api.example/v2/files/9223372036854775808",
        "DELETE https://api.example/v2/files/18446744073709551615",
      ])
  }

  @Test func `the app can choose the member that contains the ID`() async throws {
    var configuration = PipeConfiguration()
    configuration.recordID = "_key"
    let fixture = try await PipeFixture(configuration)
    try await fixture.pipe.save(JSONValue.object(["_key": .string("k"), "id": .string("i")]))
    try await fixture.pipe.save(JSONValue.object(["id": .string("i")]))
    try await fixture.pipe.remove(JSONValue.object(["_key": .integer(3)]))
    #expect(
      fixture.asked == [
        "PUT https://api.example/v2/files/k", "POST https://api.example/v2/files",
        "DELETE https://api.example/v2/files/3",
      ])
  }

  @Test(arguments: [
    JSONValue.array([]), .string("x"), .null, .object(["id": .bool(true)]),
    .object(["id": .number(1.5)]), .object(["id": .object([:])]),
  ])
  func `a value that is not a record, or has an invalid ID, is not sent`(record: JSONValue)
    async throws
  {
    let fixture = try await PipeFixture()
    let error = await pipeFailure { () async throws(PipeError) in
      try await fixture.pipe.save(record)
    }
    #expect(error?.cause?.code == .malformedRequest && fixture.asked.isEmpty)
  }

  @Test func `a record is removed by its ID, and only if it has an ID`() async throws {
    let fixture = try await PipeFixture().answering("", status: 204)
    try await fixture.pipe.remove(id: "a")
    try await fixture.pipe.remove(File(id: "b", title: "B"))
    let error = await pipeFailure { () async throws(PipeError) in
      try await fixture.pipe.remove(File(title: "C"))
    }
    #expect(error?.cause?.code == .malformedRequest)
    #expect(
      fixture.asked == [
        "DELETE https://api.example/v2/files/a", "DELETE https://api.example/v2/files/b",
      ])
  }

  @Test func `an answer without content is read as null`() async throws {
    let fixture = try await PipeFixture().answering("", status: 204)
    #expect(try await fixture.pipe.save(File(id: "a", title: "A")) == .null)
    #expect(try await fixture.pipe.save(File(id: "a", title: "A"), returning: File?.self) == nil)
  }

  @Test func `content returns the body of the response unchanged`() async throws {
    let fixture = try await PipeFixture().answering("no JSON", headers: [:])
    let content = try await fixture.pipe.content(id: "a", parameters: ["alt": "media"])
    #expect(content == Data("no JSON".utf8))
    #expect(fixture.asked == ["GET https://api.example/v2/files/a?alt=media"])
    #expect(fixture.session.apiRequests[0].headers["Accept"] == nil)
  }

  @Test func `dates are encoded and decoded by the app's own encoder and decoder`() async throws {
    struct Event: Codable, Sendable, Equatable { var at: Date }
    var configuration = PipeConfiguration()
    configuration.decoder = {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      return decoder
    }
    configuration.encoder = {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      return encoder
    }
    let fixture = try await PipeFixture(configuration).answering(#"{"at":"2026-01-02T03:04:05Z"}"#)
    let event = try await fixture.pipe.read(Event.self)
    #expect(event.at.timeIntervalSince1970 == 1_767_323_045)
    try await fixture.pipe.save(event)
    guard case .bytes(let body) = fixture.session.apiRequests[1].body else {
      Issue.record("the request has no body of bytes")
      return
    }
    #expect(String(decoding: body, as: UTF8.self) == #"{"at":"2026-01-02T03:04:05Z"}"#)
  }
}

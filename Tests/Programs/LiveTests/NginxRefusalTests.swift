import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// A server that answers before the body has arrived, and may close the connection at once.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxRefusalTests {
  /// A case of a failing upload of 50 MB.
  struct Row: Sendable, CustomTestStringConvertible {
    let path: String
    let isAnnounced: Bool
    let way: NginxFixture.Way
    var testDescription: String { "\(path) \(isAnnounced ? "announced" : "chunked") \(way)" }
  }

  static let rows = NginxFixture.Way.allCases.flatMap { way in
    ["/small/", "/abrupt/"].flatMap { path in
      [true, false].map { Row(path: path, isAnnounced: $0, way: way) }
    }
  }

  @Test(arguments: rows)
  func `a body that is too large ends with 413 or with a connection error`(
    row: Row
  ) async throws {
    let folder = try TemporaryFolder()
    let file = URL(filePath: folder.file("large"))
    try Data(count: 50_000_000).write(to: file)
    try await NginxFixture.running { fixture in
      let piece = Data(count: 200_000)
      let body: WebRequestBody =
        row.isAnnounced
        ? .file(file) : .stream(length: nil) { { piece } }
      let request = try fixture.request("PUT", row.path + "a.bin", row.way, body: body)
      do throws(SQOAuthError) {
        #expect(try await fixture.module.send(request).status == 413)
      } catch {
        // If the server closes at once, its answer may be lost, as TCP allows.
        #expect(error.code == .connectionFailed, "\(error)")
        #expect(row.path == "/abrupt/" && row.way == .http1, "\(error)")
      }
      // The client still works.
      let next = try fixture.request(
        "PUT", "/files/a.bin", row.way, body: .bytes(Data("hello".utf8)))
      #expect(try await fixture.module.send(next).status == 201)
    }
  }
}

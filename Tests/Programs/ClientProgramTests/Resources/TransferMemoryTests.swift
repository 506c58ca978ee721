import Foundation
import ProgramSupport
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// A transfer of a gigabyte, which must not increase a process's memory.
@Suite(
  .timeLimit(.minutes(3)),
  .disabled(if: isSanitized, "the sanitizer's own memory would be counted"))
struct TransferMemoryTests {
  private static let gigabyte: Int64 = 1 << 30
  /// The most memory, in kB, that a transfer may add to the process.
  private static let bound = 20_000

  private func growth(_ result: ChildProcess.Result) throws -> Int {
    let line = result.output.split(separator: "\n").last { $0.hasPrefix("growth ") }
    return try #require(line.flatMap { Int($0.dropFirst(7)) }, "\(result.errors)")
  }

  @Test func `uploading a gigabyte in a form uses under 20 MB of memory`() async throws {
    let server = try RawServer { connection in
      guard let (head, rest) = connection.readHead(),
        let field = head.split(separator: "\r\n").first(where: { $0.hasPrefix("Content-Length: ") }
        ),
        let length = Int64(field.dropFirst(16)), length > Self.gigabyte
      else { return }
      var count = Int64(rest.count)
      while count < length {
        let bytes = connection.read(1 << 20)
        if bytes.isEmpty { return }
        count += Int64(bytes.count)
      }
      connection.write("HTTP/1.1 204 No Content\r\n\r\n")
    }
    defer { server.stop() }
    // A sparse file: it has the length but uses no space on the disk.
    let folder = try TemporaryFolder()
    try Data().write(to: URL(filePath: folder.file("file")))
    try #require(truncate(folder.file("file"), off_t(Self.gigabyte)) == 0)
    let probe = try TransferProbe.start(
      "upload", "http://127.0.0.1:\(server.port)/", folder.file("file"))
    let result = try await probe.result(within: .seconds(120))
    #expect(result.output.contains("status 204\n"), "\(result.errors)")
    #expect(try growth(result) < Self.bound)
  }
}

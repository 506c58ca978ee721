import Foundation
import ProgramSupport
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Transfers of a gigabyte, which must not increase the memory of the process.
///
/// Each test runs in its own process, so that it has its own peak.
@Suite(
  .timeLimit(.minutes(3)),
  .disabled(if: isSanitized, "the sanitizer's own memory would be counted"))
struct HTTPMemoryTests {
  private static let gigabyte: Int64 = 1 << 30

  @Test(.ownThreads) func `downloading a gigabyte to a file uses under 20 MB of memory`() async {
    await #expect(processExitsWith: .success) {
      let server = try RawServer { connection in
        guard connection.readHead() != nil else { return }
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.gigabyte)\r\n\r\n")
        let piece = [UInt8](repeating: 120, count: 1 << 20)
        for _ in 0..<1024 {
          var rest = piece[...]
          while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
              send(connection.socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
          }
        }
      }
      var request = WebRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
      request.maximumResponseBytes = Self.gigabyte
      request.destination = .file(URL(filePath: "/dev/null"))
      let before = try Self.peak()
      _ = try await CurlTransport.shared.send(request)
      try #require(try Self.peak() - before < 20_000)
    }
  }

  @Test(.ownThreads) func `uploading a gigabyte from a file uses under 20 MB of memory`() async {
    await #expect(processExitsWith: .success) {
      let server = try RawServer { connection in
        guard let (_, rest) = connection.readHead() else { return }
        var count = Int64(rest.count)
        while count < Self.gigabyte {
          let bytes = connection.read()
          if bytes.isEmpty { return }
          count += Int64(bytes.count)
        }
        connection.write("HTTP/1.1 204 No Content\r\n\r\n")
      }
      // A sparse file: it has the length but uses no space on the disk.
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: file) }
      try Data().write(to: file)
      try #require(truncate(file.path, off_t(Self.gigabyte)) == 0)
      var request = WebRequest(
        method: "PUT", url: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
      request.body = .file(file)
      let before = try Self.peak()
      try #require(try await CurlTransport.shared.send(request).status == 204)
      try #require(try Self.peak() - before < 20_000)
    }
  }

  /// Returns the largest resident size so far, in kB.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(
      line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }
}

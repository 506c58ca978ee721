import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Bodies that are read from files or written to files.
@Suite(.timeLimit(.minutes(3))) struct HTTPFileTests {
  let client = CurlTransport()
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func withFolder(_ body: () async throws -> Void) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body()
  }

  private func mode(_ url: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test(arguments: [0, 1, 262_144, 600_001]) func `a request body from a file arrives complete`(
    size: Int
  ) async throws {
    try await withFolder {
      let content = pattern(size)
      let file = folder.appending(path: "a file with spaces.bin")
      try content.write(to: file)
      let server = try Server.answering()
      var request = try server.request("PUT")
      request.body = .file(file)
      _ = try await client.send(request)
      let seen = try #require(server.requests.first)
      #expect(seen.body == content)
      #expect(seen.header("content-length") == "\(size)")
    }
  }

  @Test(arguments: ["missing", ".", "http://127.0.0.1/x"])
  func `a file that cannot be sent is rejected before anything is sent`(name: String) async throws {
    try await withFolder {
      let server = try Server.answering()
      var request = try server.request("PUT")
      let url =
        name.hasPrefix("http") ? try #require(URL(string: name)) : folder.appending(path: name)
      request.body = .file(url)
      let error = await failure(.malformedRequest) { try await client.send(request) }
      #expect(error?.cause is FileError)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `a response is written to a file that only its owner can read`() async throws {
    try await withFolder {
      let body = String(repeating: "0123456789", count: 100_000)
      let server = try Server.answering(200, [], body)
      let file = folder.appending(path: "new")
      var request = try server.request()
      request.destination = .file(file)
      let response = try await client.send(request)
      #expect(response.body.isEmpty)
      #expect(try Data(contentsOf: file) == Data(body.utf8))
      #expect(try mode(file) == 0o600)
    }
  }

  @Test(.ownThreads) func `the owner can read a response's file under any umask`()
    async throws
  {
    try await withFolder {
      let server = try Server.answering(200, [], "body")
      let (url, file) = (try server.request().url, folder.appending(path: "new"))
      await #expect(processExitsWith: .success) { [url = url as URL, file = file as URL] in
        umask(0o777)
        var request = WebRequest(url: url)
        request.destination = .file(file)
        _ = try await CurlTransport().send(request)
      }
      #expect(try mode(file) == 0o600)
    }
  }

  @Test func `an existing file is emptied first and keeps its mode`() async throws {
    try await withFolder {
      let file = folder.appending(path: "old")
      try Data(repeating: 1, count: 1000).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
      let server = try Server.answering(200, [], "short")
      var request = try server.request()
      request.destination = .file(file)
      _ = try await client.send(request)
      #expect(try Data(contentsOf: file) == Data("short".utf8))
      #expect(try mode(file) == 0o640)
    }
  }

  @Test(arguments: [302, 404, 500])
  func `an unsuccessful response does not change the destination file`(status: Int) async throws {
    try await withFolder {
      let file = folder.appending(path: "kept")
      try Data("kept".utf8).write(to: file)
      let server = try Server.answering(status, [], "sorry")
      var request = try server.request()
      request.destination = .file(file)
      let response = try await client.send(request)
      #expect(response.status == status)
      #expect(response.text == "sorry")
      #expect(try Data(contentsOf: file) == Data("kept".utf8))
    }
  }

  @Test(arguments: ["link", "pipe", "folder"])
  func `a link, pipe or folder in place of the destination file causes an error`(kind: String)
    async throws
  {
    try await withFolder {
      let (file, target) = (folder.appending(path: "new"), folder.appending(path: "target"))
      try Data("kept".utf8).write(to: target)
      switch kind {
      case "link":
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
      case "pipe":
        #expect(mkfifo(file.path, 0o600) == 0)
      default:
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      }
      let server = try Server.answering(200, [], "body")
      var request = try server.request()
      request.destination = .file(file)
      let error = await failure(.malformedRequest) { try await client.send(request) }
      #expect(error?.cause is FileError)
      #expect(try Data(contentsOf: target) == Data("kept".utf8))
    }
  }

  @Test func `a named pipe that another program reads is rejected as the destination`() async throws
  {
    try await withFolder {
      let pipe = folder.appending(path: "pipe")
      #expect(mkfifo(pipe.path, 0o600) == 0)
      let reader = open(pipe.path, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      let server = try Server.answering(200, [], "body")
      var request = try server.request()
      request.destination = .file(pipe)
      await failure(.malformedRequest) { try await client.send(request) }
      var byte: UInt8 = 0
      #expect(read(reader, &byte, 1) <= 0)
    }
  }

  @Test func `a destination file that cannot be written causes an error`() async throws {
    try await withFolder {
      let server = try Server.answering()
      var request = try server.request()
      request.destination = .file(folder.appending(path: "no/such/folder"))
      let error = await failure(.malformedRequest) { try await client.send(request) }
      #expect((error?.cause as? FileError)?.code == ENOENT)
    }
  }

  /// A file server may report only at the end that it has no space or that a write has failed.
  @Test(
    .requires(CCompiler.requirement),
    .disabled(if: isSanitized, "a sanitizer must be the first library of its process"))
  func `a response whose file cannot be written to the disk is an error`() async throws {
    try await withFolder {
      let server = try Server.answering(200, [], "body")
      let result = try await TransferProbe.run(
        "save", try server.request().url.absoluteString,
        toFailingDisk: folder.appending(path: "new").path)
      #expect(result.status == 1, "\(result.output)")
      #expect(
        result.errors.hasPrefix("error malformed_request: the file for the response cannot be"))
      #expect(result.errors.contains("fsync"), "\(result.errors)")
    }
  }

  @Test func `a response can be written to a device`() async throws {
    let server = try Server.answering(200, [], "body")
    var request = try server.request()
    request.destination = .file(URL(filePath: "/dev/null"))
    #expect(try await client.send(request).status == 200)
  }

  @Test func `the reported progress never decreases and ends at the total`() async throws {
    try await withFolder {
      let body = String(repeating: "x", count: 900_000)
      let server = try Server.answering(200, [], body)
      let file = folder.appending(path: "big")
      try Data(count: 800_000).write(to: file)
      let reports = Locked<[HTTPProgress]>([])
      var request = try server.request("POST")
      request.body = .file(file)
      request.progress = { progress in reports.withLock { $0.append(progress) } }
      _ = try await client.send(request)
      let seen = reports.withLock { $0 }
      #expect(seen.count > 2)
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.sent <= $1.sent })
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received <= $1.received })
      #expect(seen.allSatisfy { $0.totalToSend == 800_000 })
      #expect(
        seen.last
          == HTTPProgress(
            sent: 800_000, totalToSend: 800_000, received: 900_000, totalToReceive: 900_000))
    }
  }

  @Test func `the progress of a small body ends at the total`() async throws {
    let server = try Server.answering()
    let reports = Locked<[HTTPProgress]>([])
    var request = try server.request("POST")
    request.body = .bytes(Data("abc".utf8))
    request.progress = { progress in reports.withLock { $0.append(progress) } }
    _ = try await client.send(request)
    #expect(
      reports.withLock { $0.last }
        == HTTPProgress(sent: 3, totalToSend: 3, received: 5, totalToReceive: 5))
  }
}

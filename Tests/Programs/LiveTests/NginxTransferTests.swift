import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import TestSupport
import Testing

/// Uploads and downloads of a pipe that are rejected, cut off, cancelled and resumed.
@Suite(.requires(.nginx), .timeLimit(.minutes(3))) struct NginxTransferTests {
  private static let content = pattern(600_000)
  private let folder: TemporaryFolder
  private let copy: URL

  init() throws {
    folder = try TemporaryFolder()
    copy = URL(filePath: folder.file("copy"))
  }

  /// A record of a transfer's progress, with a check that it only grows and ends with the total.
  private final class Account: Sendable {
    private let told = Locked<[TransferProgress]>([])

    var take: @Sendable (TransferProgress) -> Void {
      { progress in self.told.withLock { $0.append(progress) } }
    }

    func check(total: Int, sourceLocation: SourceLocation = #_sourceLocation) {
      let told = told.withLock { $0 }
      let isGrowing = zip(told, told.dropFirst()).allSatisfy { $0.completed <= $1.completed }
      #expect(isGrowing, sourceLocation: sourceLocation)
      #expect(told.dropLast().allSatisfy { $0.fraction ?? 0 < 1 }, sourceLocation: sourceLocation)
      #expect(
        told.last == TransferProgress(completed: Int64(total), total: Int64(total)),
        sourceLocation: sourceLocation)
    }
  }

  // MARK: Uploads

  @Test(arguments: ["files", "buffered"], NginxFixture.Way.allCases)
  func `an upload is repeated after an early or late rejection of the token`(
    name: String, way: NginxFixture.Way
  ) async throws {
    let content = pattern(8_000_000)
    let source = URL(filePath: folder.file("source"))
    try content.write(to: source)
    try await NginxFixture.running { fixture in
      try await fixture.revokeAccessToken()
      let account = Account()
      try await fixture.pipe(name, way)
        .upload(.file(source), id: "a.bin", progress: account.take)
      account.check(total: content.count)
      #expect(try Data(contentsOf: fixture.nginx.file("files/a.bin")) == content)
      let requests = try await fixture.nginx.requests(atLeast: 2)
      #expect(requests.map(\.status).sorted() == [201, 401])
      #expect(fixture.refreshes.count == 1)
    }
  }

  @Test func `a form with a one-time stream is not sent again after a 401`() async throws {
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe("buffered")
      let stream = AsyncStream<Data> { continuation in
        for _ in 0..<10 { continuation.yield(Data(count: 10_000)) }
        continuation.finish()
      }
      let form = MultipartForm([.stream("f", filename: "f", once: stream)])
      try await fixture.revokeAccessToken()
      let error = await #expect(throws: PipeError.self) { try await pipe.upload(form, id: "f") }
      #expect(error?.cause?.code == .bodyNotReplayable, "\(String(describing: error))")
      #expect(try await fixture.log() == ["PUT /buffered/f 401"])
    }
  }

  @Test(arguments: ["small", "abrupt"], NginxFixture.Way.allCases)
  func `an upload that is too large ends with 413 or with a connection error`(
    name: String, way: NginxFixture.Way
  ) async throws {
    let source = URL(filePath: folder.file("source"))
    try Data(count: 50_000_000).write(to: source)
    try await NginxFixture.running { fixture in
      let pipe = try fixture.pipe(name, way)
      let error = await #expect(throws: PipeError.self) {
        try await pipe.upload(.file(source), id: "a.bin")
      }
      // If the server closes at once, its answer may be lost, as TCP allows.
      let isLost = error?.cause?.code == .connectionFailed && name == "abrupt" && way == .http1
      #expect(error?.refusal?.status == 413 || isLost, "\(String(describing: error))")
      try await fixture.pipe("files", way).save(["id": "1"])
    }
  }

  // MARK: Downloads

  @Test(arguments: NginxFixture.Way.allCases)
  func `a download continues where nginx cut it off`(way: NginxFixture.Way) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Self.content, "files/a.bin")
      let account = Account()
      try await fixture.pipe("cut", way).download(id: "a.bin", to: copy, progress: account.take)
      account.check(total: Self.content.count)
      #expect(try Data(contentsOf: copy) == Self.content)
      let requests = try await fixture.nginx.requests()
      #expect(requests.count == 5)
      #expect(requests.map(\.status) == [200] + Array(repeating: 206, count: requests.count - 1))
      #expect(requests.dropFirst().allSatisfy { $0.range.hasPrefix("bytes=") })
      let sent = requests.map(\.contentSent).reduce(0, +)
      #expect(sent == Self.content.count || way == .http2, "no byte came twice")
    }
  }

  @Test func `a token that is revoked between two parts of a download is refreshed`() async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Self.content, "files/a.bin")
      let isRevoked = Locked(false)
      try await fixture.pipe("cut").download(id: "a.bin", to: copy) { progress in
        // The token is revoked after the first bytes have arrived.
        guard progress.completed > 0, !isRevoked.withLock({ $0 }) else { return }
        isRevoked.withLock { $0 = true }
        fixture.sandbox.expireAccessTokens()
      }
      #expect(try Data(contentsOf: copy) == Self.content)
      let statuses = try await fixture.nginx.requests().map(\.status)
      // The rejection may come after any part of the file, because the transfer does not wait for
      // the progress closure.
      #expect(statuses.filter { $0 != 206 } == [200, 401] && statuses.last == 206)
      #expect(statuses.first == 200 && fixture.refreshes.count == 1)
    }
  }

  /// A change of the file between two downloads.
  enum Change: CaseIterable, Sendable { case none, content, removal }

  @Test(arguments: Change.allCases)
  func `after a cancelled download, the next call resumes it, or restarts it if the file changed`(
    change: Change
  ) async throws {
    try await NginxFixture.running { fixture in
      // The download would take minutes, so even a late cancellation comes in the middle.
      let content = pattern(5_000_003)
      try fixture.write(content, "files/a.bin")
      let pipe = try fixture.pipe("resumed")
      await #expect(throws: PipeError.self) {
        try await pipe.download(id: "a.bin", to: copy) { if $0.completed > 0 { pipe.cancel() } }
      }
      #expect(!FileManager.default.fileExists(atPath: copy.path))

      let newContent = Data(repeating: 1, count: 200_000)
      switch change {
      case .none: break
      case .content: try fixture.write(newContent, "files/a.bin")
      case .removal: try FileManager.default.removeItem(at: fixture.nginx.file("files/a.bin"))
      }
      if change == .removal {
        let error = await #expect(throws: PipeError.self) {
          try await pipe.download(id: "a.bin", to: copy)
        }
        #expect(error?.refusal?.status == 404)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
      } else {
        try await pipe.download(id: "a.bin", to: copy)
        #expect(try Data(contentsOf: copy) == (change == .none ? content : newContent))
      }
      // nginx logs a request when it ends, so the cancelled request may be the last in the log.
      let requests = try await fixture.nginx.requests(atLeast: 2)
      let later = try #require(requests.first { $0.range.hasPrefix("bytes=") })
      #expect(later.status == (change == .none ? 206 : change == .content ? 200 : 404))
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `a read that exceeds the pipe's time limit fails with a timeout error`(way: NginxFixture.Way)
    async throws
  {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 10_000_000), "files/a.bin")
      // This opens the connection, so that the slow request reaches nginx within the pipe's 2 s.
      _ = try await fixture.pipe("files", way).read()
      let pipe = try fixture.pipe("slow", way, timeout: .seconds(2))
      let error = await #expect(throws: PipeError.self) { try await pipe.content(id: "a.bin") }
      guard case .timedOut? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await fixture.nginx.requests(atLeast: 2).count == 2)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `cancelling a pipe ends only its own operations`(way: NginxFixture.Way) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data(count: 10_000_000), "files/a.bin")
      let pipe = try fixture.pipe("slow", way)
      let reads = (0..<5).map { _ in Task { try await pipe.content(id: "a.bin") } }
      let other = try fixture.pipe("files", way)
      try await eventually("nginx asks about the tokens") {
        fixture.sandbox.requests(to: .me).count >= 5
      }
      pipe.cancel()
      for read in reads {
        let error = await #expect(throws: PipeError.self) { try await read.value }
        guard case .cancelled? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
      _ = try await other.read()
      let requests = try await fixture.nginx.requests(atLeast: 6)
      #expect(requests.count { !$0.isComplete } == 5)
    }
  }
}

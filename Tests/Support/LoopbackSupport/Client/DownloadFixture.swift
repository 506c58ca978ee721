import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// A folder for a download, and the progress that the download reported.
final class DownloadFixture: Sendable {
  let folder: TemporaryFolder
  /// How far the clock for the client's requests is ahead of the system's clock.
  let time = TimeLead()
  let client: CurlTransport
  private let told = Locked<[TransferProgress]>([])

  init() throws {
    folder = try TemporaryFolder()
    client = CurlTransport(lead: time)
  }

  var destination: URL { URL(filePath: folder.file("file.bin")) }
  var partial: URL { URL(filePath: folder.file("file.bin.partial")) }
  var info: URL { URL(filePath: folder.file("file.bin.partial.info")) }
  var progress: [TransferProgress] { told.withLock { $0 } }

  /// The names of the files in the folder.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  func download(
    _ server: RangeServer, maximumBytes: Int64? = nil, owner: String? = nil,
    change: (inout WebRequest) -> Void = { _ in }
  ) async throws -> WebResponse {
    var request = try server.request()
    change(&request)
    return try await download(request, maximumBytes: maximumBytes, owner: owner)
  }

  func download(
    _ request: WebRequest, maximumBytes: Int64? = nil, owner: String? = nil,
    replacesFile: Bool = true,
    progress watch: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> WebResponse {
    forgetProgress()
    var download = ResumableDownload(
      request, to: destination, maximumBytes: maximumBytes, replacesFile: replacesFile
    ) { [self] progress in
      told.withLock { $0.append(progress) }
      watch?(progress)
    }
    download.owner = { () throws(SQOAuthError) in owner }
    return try await download.run { [client] request throws(SQOAuthError) in
      try await client.send(request)
    }
  }

  func forgetProgress() { told.withLock { $0 = [] } }

  /// Runs a download that receives a number of bytes, is cut off and then gets status 503.
  func bring(_ count: Int, of server: RangeServer, owner: String? = nil) async throws {
    // After the cut, the server answers 503, so that the download does not resume at once.
    server.fail(.cut(after: count), .reply(.response(LoopbackResponse(status: 503))))
    #expect(try await download(server, owner: owner).status == 503)
    let size = try Data(contentsOf: partial).count
    #expect(size == count)
  }

  /// Expects progress that never decreases and is complete only at the end.
  func expectWholeProgress(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let progress = progress
    #expect(
      progress.last == TransferProgress(completed: Int64(size), total: Int64(size)),
      sourceLocation: sourceLocation)
    #expect(
      zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed },
      "\(progress)", sourceLocation: sourceLocation)
    #expect(progress.filter { $0.fraction == 1 }.count == 1, sourceLocation: sourceLocation)
  }
}

import Foundation
import SQBasics
import TestSupport
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import SequencingOAuthPipes

/// Web sign-ins and downloads that one process begins and that another process, perhaps of a newer
/// version, soon finishes.
@Suite(.timeLimit(.minutes(1))) struct PassingFormTests {
  // MARK: Web sign-ins

  @Test(arguments: ["1a", "1b", "1c", "1d"])
  func `a web sign-in of each format can be read`(form: String) throws {
    let signIn = try StoredForms.webSignIn(form)
    #expect(signIn.expirationDate == Date(timeIntervalSince1970: 1_750_000_600))
    #expect(signIn.name == "yfv-4-LndrzZQ-vkKts7tA")
    let request = signIn.request
    #expect(request.clientID == "web" && request.provider == "https://id.example")
    #expect(request.redirectURI == "https://app.example/callback")
    #expect(request.issuer == "https://id.example" && request.requiresIssuer)
    #expect(request.allowsPages && request.acceptsForm == (form != "1a"))
    #expect(request.state == "state-state-state-state")
    #expect(request.verifier == String(repeating: "v", count: 43))
    #expect(request.identity.scope == "openid demo" && request.identity.nonce == "nonce")
    #expect(request.identity.maximumAge == 3600 && request.identity.essentialContexts == ["urn:x"])
    #expect(request.identity.wasVerifiable == (["1c", "1d"].contains(form) ? true : nil))
    #expect(
      request.identity.requestDate
        == (form == "1d" ? Date(timeIntervalSince1970: 1_750_000_000) : nil))
  }

  @Test(arguments: ["1a", "1b", "1c", "1d"])
  func `a web sign-in's cookie can be opened, whichever format version wrote it`(form: String)
    throws
  {
    let text = try StoredForms.text("web-sign-in-\(form).sealed").trimmingCharacters(in: .newlines)
    let sealer = try WebSignInSealer(key: .testKey)
    #expect(try sealer.open(text, session: "browser") == StoredForms.webSignIn(form))
  }

  // MARK: Downloads

  /// A server's file of twenty bytes, and the ranges that were requested.
  private final class Resource: Sendable {
    private let ranges = Locked<[String?]>([])
    static let content = Data("0123456789abcdefghij".utf8)

    var requested: [String?] { ranges.withLock(\.self) }

    func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
      let range = request.headers["Range"]
      ranges.withLock { $0.append(range) }
      let start = range == "bytes=10-" && request.headers["If-Range"] == "\"v1\"" ? 10 : 0
      let head = WebResponseHead(
        status: start == 0 ? 200 : 206,
        headers: start == 0
          ? ["ETag": "\"v1\""] : ["ETag": "\"v1\"", "Content-Range": "bytes 10-19/20"])
      guard case .stream(let take) = request.destination else {
        throw SQOAuthError(.malformedRequest, "the content must go to a closure")
      }
      do {
        try await take(head, Data())
        try await take(head, Self.content.dropFirst(start))
      } catch {
        throw SQOAuthError(.fileFailed, "the content was not taken", cause: error)
      }
      return WebResponse(status: head.status, headers: head.headers)
    }
  }

  /// Resumes a download from a stored partial file, and returns the `Range` field of each request.
  ///
  /// `record` names the sample of its record file, if the format has one.
  private func download(
    _ record: String?, partial: String = "download-1.partial", in folder: TemporaryFolder,
    from resource: Resource = Resource()
  ) async throws -> [String?] {
    let destination = folder.file("data")
    try StoredForms.copy(partial, to: "\(destination).partial")
    if let record { try StoredForms.copy(record, to: "\(destination).partial.info") }
    let download = ResumableDownload(
      WebRequest(method: "GET", url: try StoredForms.url), to: URL(filePath: destination))
    _ = try await download.run { request throws(SQOAuthError) in
      try await resource.send(request)
    }
    return resource.requested
  }

  @Test(arguments: [("download-1a.info", "bytes=10-"), ("download-1b.info", nil)])
  func `a partial download with a stored validator is resumed, and one without starts again`(
    record: String, range: String?
  ) async throws {
    let folder = try TemporaryFolder()
    #expect(try await download(record, in: folder) == [range])
    #expect(try Data(contentsOf: URL(filePath: folder.file("data"))) == Resource.content)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data"])
  }

  /// The first version left a partial file without a record if it was killed during a download that
  /// could not be resumed.
  @Test func `a partial download without its record file is kept, and no request is sent`()
    async throws
  {
    let folder = try TemporaryFolder()
    let resource = Resource()
    await failure(.fileFailed) { try await download(nil, in: folder, from: resource) }
    #expect(resource.requested.isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == ["data.partial"])
    #expect(
      try String(contentsOfFile: folder.file("data.partial"), encoding: .utf8)
        == StoredForms.text("download-1.partial"))
  }
}

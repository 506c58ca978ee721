import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Pipes with bound tokens, at an API whose nonce changes without notice after every success.
///
/// So each request of a pipe is refused once and then succeeds, also in the middle of a list or of
/// a download.
@Suite("End to end: pipes with bound tokens", .timeLimit(.minutes(1))) struct BoundPipeTests {
  typealias File = DriveFixture.File

  /// A drive of a signed-in user, and its pipes.
  private struct Drive {
    let bound: BoundFixture
    let files: Pipeline.Pipe
    let uploads: Pipeline.Pipe
    var sandbox: SandboxServer { bound.sandbox }

    init(_ configuration: PipeConfiguration = PipeConfiguration()) async throws {
      var options = BoundFixture.strict
      options.dpop.renewsNonceAfterSuccess = true
      options.dpop.challengesAreBare = true
      bound = try await BoundFixture(.public, options).signedIn()
      let pipeline = try Pipeline(baseURL: bound.sandbox.issuer, module: bound.module)
      var files = configuration
      files.endpoint = "drive/v2/files"
      self.files = try pipeline.add("files", files)
      files.endpoint = "upload/drive/v2/files"
      uploads = try pipeline.add("uploads", files)
      bound.sandbox.forgetRequests()
    }

    /// Every request, in order, such as `GET /drive/v2/files`.
    var asked: [String] { sandbox.requests.map(\.description) }

    func stored(_ id: String?) -> SandboxFile? { sandbox.files().first { $0.id == id } }
  }

  /// Returns each request twice: refused, and accepted.
  private func twice(_ requests: String...) -> [String] { requests.flatMap { [$0, $0] } }

  @Test func `a file is created, read, listed, renamed and removed`() async throws {
    let drive = try await Drive()
    let created = try await drive.files.save(File(title: "Ä & B"), returning: File.self)
    let id = try #require(created.id)
    var read = try await drive.files.read(File.self, id: id)
    read.title = "renamed"
    #expect(try await drive.files.save(read, returning: File.self).title == "renamed")
    let list = try await drive.files.read(DriveFixture.List.self, parameters: ["maxResults": "50"])
    #expect(list.titles.last == "renamed")
    try await drive.files.remove(id: id)
    #expect(drive.stored(id) == nil)
    let file = "/drive/v2/files/\(id)"
    #expect(
      drive.asked
        == twice(
          "POST /drive/v2/files", "GET \(file)", "PUT \(file)", "GET /drive/v2/files",
          "DELETE \(file)"))
    let posts = drive.sandbox.requests.filter { $0.method == "POST" }
    #expect(posts[0].body == posts[1].body && !posts[0].body.isEmpty)
    try drive.bound.audit()
  }

  /// Some servers compare the URL byte by byte.
  @Test(arguments: ["a b", "ü/7", "%2F~", "x?y#z", "(a)*'!"])
  func `a proof names the URL of its request`(id: String) async throws {
    let drive = try await Drive()
    let error = await failure(as: PipeError.self) {
      try await drive.files.read(File.self, id: id)
    }
    #expect(error?.refusal?.status == 404)
    let proofs = drive.sandbox.requests.compactMap(\.proof)
    #expect(proofs.count == drive.sandbox.requests.count && !proofs.isEmpty)
    #expect(proofs.allSatisfy { $0.url?.contains("?") == false && $0.url?.contains("#") == false })
    try drive.bound.audit()
  }

  @Test func `a large form is refused before its content is sent, and then sent once`()
    async throws
  {
    let drive = try await Drive()
    let folder = try TemporaryFolder()
    let url = URL(filePath: folder.file("a"))
    let content = pattern(3_000_000)
    try content.write(to: url)
    let form: MultipartForm = [
      .field("title", "genome"), .stream("description") { OneChunk("described").next },
      .file("file", url),
    ]
    let created = try await drive.uploads.upload(form, returning: File.self)
    let stored = try #require(drive.stored(created.id))
    #expect(stored.content == content && stored.description == "described")
    #expect(drive.asked == twice("POST /upload/drive/v2/files"))
    #expect(drive.sandbox.requests.map(\.hasUnreadBody) == [true, false])
    #expect(Set(drive.sandbox.requests.compactMap { $0.proof?.id }).count == 2)
    try drive.bound.audit()
  }

  @Test func `a body that can be sent only once is not repeated, but the next upload succeeds`()
    async throws
  {
    let drive = try await Drive()
    func upload() async throws(PipeError) -> File {
      try await drive.uploads.upload(
        [.stream("file", length: 3, once: OneChunk("abc").next)], returning: File.self)
    }
    let error = await failure(as: PipeError.self) { try await upload() }
    #expect(error?.cause?.code == .bodyNotReplayable)
    #expect(drive.asked == ["POST /upload/drive/v2/files"])
    let file = try await upload()
    #expect(drive.stored(file.id)?.content == Data("abc".utf8))
    #expect(drive.asked.count == 2, "the nonce was learned from the refusal")
    #expect(drive.sandbox.requests(to: .token).isEmpty)
  }

  @Test func `a download continues after each broken connection with a new nonce for each range`()
    async throws
  {
    let drive = try await Drive()
    let folder = try TemporaryFolder()
    let destination = URL(filePath: folder.file("f"))
    let content = pattern(1_000_000)
    let id = drive.sandbox.addFile("f", content: content).id
    // Each fault applies to one request. The `nil` entries are for the requests that are refused
    // for their nonce.
    for size in [nil, 300_000, nil, 200_000] {
      drive.sandbox.misbehave(
        at: .driveContent, size.map { .cut(afterBodyBytes: $0) } ?? .field("X-Unused", nil))
    }
    try await drive.files.download(id: id, parameters: ["alt": "media"], to: destination)
    #expect(try Data(contentsOf: destination) == content)
    let requests = drive.sandbox.requests(to: .driveContent)
    #expect(
      requests.map { $0.header("range") } == [
        nil, nil, "bytes=300000-", "bytes=300000-", "bytes=500000-", "bytes=500000-",
      ])
    #expect(Set(requests.compactMap { $0.proof?.id }).count == 6)
    #expect(requests.allSatisfy { $0.proof?.url?.hasSuffix("/drive/v2/files/\(id)") == true })
    try drive.bound.audit()
  }

  @Test(arguments: [Paging.linkHeader, .body(next: "nextLink")])
  func `each page of a list is requested with its own nonce`(paging: Paging) async throws {
    var configuration = PipeConfiguration()
    configuration.paging = paging
    let drive = try await Drive(configuration)
    var titles: [String] = []
    for try await page in drive.files.pages(
      DriveFixture.List.self, parameters: ["maxResults": "2"])
    { titles += page.value.titles }
    #expect(titles == drive.sandbox.files().map(\.title) && titles.count == 5)
    #expect(drive.asked.count == 6)
    #expect(Set(drive.bound.nonces(at: .driveFiles)).count == 4)
    try drive.bound.audit()
  }

  @Test func `a refused token is refreshed in the middle of a list`() async throws {
    var configuration = PipeConfiguration()
    configuration.paging = .linkHeader
    let drive = try await Drive(configuration)
    var titles: [String] = []
    for try await page in drive.files.pages(
      DriveFixture.List.self, parameters: ["maxResults": "2"])
    {
      titles += page.value.titles
      if titles.count == 2 { drive.sandbox.expireAccessTokens() }
    }
    #expect(titles == drive.sandbox.files().map(\.title))
    // The second page costs three requests: the token is refused, and then the nonce.
    #expect(drive.sandbox.requests(to: .driveFiles).count == 7)
    #expect(drive.sandbox.requests(to: .token).count == 2)
    #expect(Set(drive.sandbox.requests.compactMap(\.boundToken)).count == 2)
    try drive.bound.audit()
  }
}

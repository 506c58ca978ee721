import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The pages of a drive, for every way to name the next page.
@Suite("End to end: pages", .timeLimit(.minutes(1))) struct PipePagesTests {
  typealias List = DriveFixture.List

  /// Creates a drive of seven files that is read two at a time.
  private func drive(_ paging: Paging) async throws -> DriveFixture {
    var configuration = PipeConfiguration()
    configuration.paging = paging
    let drive = try await DriveFixture(configuration)
    for number in 6...7 { drive.sandbox.addFile("file \(number)", content: Data()) }
    return drive
  }

  private static let two = ["maxResults": "2"]

  @Test(arguments: [
    Paging.linkHeader, .body(next: "nextLink"),
    .tokens(next: "nextPageToken", parameter: "pageToken"),
  ])
  func `iterating over the pages of a list returns every file once`(paging: Paging) async throws {
    let drive = try await drive(paging)
    var titles: [String] = []
    var sizes: [Int] = []
    for try await page in drive.files.pages(List.self, parameters: Self.two) {
      titles += page.value.titles
      sizes.append(page.value.items.count)
    }
    #expect(titles == drive.sandbox.files().map(\.title) && sizes == [2, 2, 2, 1])
    let requests = drive.sandbox.requests
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.query("maxResults") == "2" })
    #expect(requests[0].query("pageToken") == nil)
    #expect(Set(requests.dropFirst().map { $0.query("pageToken") }).count == 3)
    #expect(requests.allSatisfy { $0.bearerToken == drive.module.currentToken?.accessToken })
  }

  @Test func `next() and previous() follow the links of a page`() async throws {
    let drive = try await drive(.linkHeader)
    let first = try await drive.files.pages(List.self, parameters: Self.two).first()
    let second = try #require(try await first.next())
    let third = try #require(try await second.next())
    #expect(try await third.previous()?.value.titles == second.value.titles)
    #expect(try await second.previous()?.value.titles == first.value.titles)
    #expect(try await first.previous() == nil)
    #expect(drive.sandbox.requests.count == 5)
  }

  @Test func `a token that expires between two pages is refreshed`() async throws {
    let drive = try await drive(.linkHeader)
    var count = 0
    for try await page in drive.files.pages(List.self, parameters: Self.two) {
      count += page.value.items.count
      drive.revokeAccessToken()
    }
    #expect(count == 7)
    let get = SandboxEndpoint.driveFiles
    #expect(
      drive.sandbox.requests.map(\.endpoint) == [
        get, get, .token, get, get, .token, get, get, .token, get,
      ])
  }

  /// The server that the link names really runs, so the test can see that it gets no request.
  @Test(arguments: [
    (Paging.linkHeader, SandboxEndpoint.driveFiles), (.body(next: "nextLink"), .driveFiles),
  ])
  func `a link to another server is not followed`(
    paging: Paging, endpoint: SandboxEndpoint
  ) async throws {
    let drive = try await drive(paging)
    let other = try await SandboxServer.start()
    let link = other.driveURL.appending(path: "files").absoluteString
    drive.sandbox.misbehave(at: endpoint, .field("Link", "<\(link)>; rel=\"next\""))
    let member = SandboxMisbehaviour.member("nextLink", .string(link))
    if paging != .linkHeader {
      drive.sandbox.behave()
      drive.sandbox.misbehave(at: endpoint, member)
    }
    var pages = 0
    let error = await pipeFailure { () async throws(PipeError) in
      for try await _ in drive.files.pages(List.self, parameters: Self.two) { pages += 1 }
    }
    guard case .failed(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .originNotAllowed && pages == 1)
    #expect(other.requests.isEmpty && drive.sandbox.requests.count == 1)
    await other.stop()
  }

  @Test func `a failed page ends the iteration`() async throws {
    let drive = try await drive(.linkHeader)
    var pages = 0
    let error = await pipeFailure { () async throws(PipeError) in
      for try await _ in drive.files.pages(List.self, parameters: Self.two) {
        pages += 1
        drive.sandbox.misbehave(at: .driveFiles, .status(503, headers: ["Retry-After": "9"]))
      }
    }
    #expect(error?.refusal?.status == 503 && pages == 1)
    #expect(error?.refusal?.head.headers["Retry-After"] == "9")
    #expect(drive.sandbox.requests.count == 2)
  }

  @Test func `an expired page token is reported as the server's refusal`() async throws {
    let drive = try await drive(.tokens(next: "nextPageToken", parameter: "pageToken"))
    let first = try await drive.files.pages(List.self, parameters: Self.two).first()
    drive.sandbox.advance(by: .seconds(3 * 3600))
    let error = await pipeFailure { () async throws(PipeError) in try await first.next() }
    #expect(error?.refusal?.status == 400)
  }
}

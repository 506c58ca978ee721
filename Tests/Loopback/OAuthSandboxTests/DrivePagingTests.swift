import FoundationEssentials
import OAuthSandbox
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DrivePagingTests {
  private let files = "/drive/v2/files"

  /// Starts a drive that only has `count` files, named 1, 2 and so on.
  private func drive(_ count: Int) async throws -> DriveClient {
    var options = SandboxOptions()
    options.drivesHaveDocuments = false
    let sandbox = try await SandboxServer.start(options)
    for number in 0..<count { sandbox.addFile("\(number + 1)", content: Data()) }
    return DriveClient(sandbox)
  }

  private func path(_ url: String, _ drive: DriveClient) -> String {
    url.replacing(drive.sandbox.issuer.absoluteString, with: "")
  }

  @Test(arguments: [(0, 3), (1, 1), (7, 3), (6, 3), (3, 3), (4, 100)])
  func `following next links lists all files, and following prev links goes back`(
    count: Int, size: Int
  ) async throws {
    let drive = try await drive(count)
    let all = (0..<count).map { "\($0 + 1)" }
    var pages: [[String]] = []
    var url: String? = files + "?maxResults=\(size)"
    var lastURL = files
    while let next = url {
      lastURL = path(next, drive)
      let answer = try await drive.send("GET", lastURL)
      let list = try answer.decoded(FileListJSON.self)
      #expect(list.items.count <= size)
      #expect(answer.links["next"] == list.nextLink)
      #expect(list.nextPageToken.map { list.nextLink?.hasSuffix($0) == true } ?? true)
      pages.append(list.titles)
      url = list.nextLink
    }
    #expect(pages.flatMap(\.self) == all)
    #expect(pages.count == max(1, (count + size - 1) / size))
    let end = try await drive.send("GET", lastURL)
    for (name, titles) in [("first", pages.first), ("last", pages.last)] {
      let link = try #require(end.links[name])
      #expect(link.hasPrefix(drive.sandbox.issuer.absoluteString + files + "?"))
      #expect(try await drive.page(link).titles == titles)
    }
    var back: [[String]] = []
    var previous = end.links["prev"]
    while let link = previous {
      let answer = try await drive.send("GET", path(link, drive))
      back.insert(try answer.decoded(FileListJSON.self).titles, at: 0)
      previous = answer.links["prev"]
    }
    #expect(back == Array(pages.dropLast()))
    await drive.sandbox.stop()
  }

  @Test func `the next page starts after the previous page even if files were added or deleted`()
    async throws
  {
    let drive = try await drive(6)
    let first = try await drive.page(files + "?maxResults=2")
    #expect(first.titles == ["1", "2"])
    for item in first.items { _ = try await drive.send("DELETE", "\(files)/\(item.id)") }
    drive.sandbox.addFile("7", content: Data())
    let second = try await drive.send("GET", path(try #require(first.nextLink), drive))
    let page = try second.decoded(FileListJSON.self)
    #expect(page.titles == ["3", "4"])
    #expect(second.links["prev"] == nil, "there is no earlier page")
    let rest = try await drive.page(try #require(page.nextLink).replacing("=2&", with: "=9&"))
    #expect(rest.titles == ["5", "6", "7"])
    await drive.sandbox.stop()
  }

  @Test(arguments: [
    "?maxResults=0", "?maxResults=-1", "?maxResults=a", "?maxResults=",
    "?maxResults=1&maxResults=2",
    "?maxResults=%F", "?pageToken=", "?pageToken=a", "?pageToken=a1001.1.x", "?pageToken=..",
    "?pageToken=a99999999999999999999.1.x",
  ])
  func `an invalid page request gets status 400`(query: String) async throws {
    let drive = try await drive(1)
    let answer = try await drive.send("GET", files + query)
    #expect(answer.status == 400 && answer.driveError != nil)
    await drive.sandbox.stop()
  }

  @Test func `a page token works for an hour, only for its user and only unchanged`() async throws {
    let drive = try await drive(3)
    let sandbox = drive.sandbox
    let page = try await drive.page(files + "?maxResults=1")
    let token = try #require(page.nextPageToken)
    let path = files + "?pageToken="
    #expect(try await drive.page(path + token).titles == ["2", "3"])
    let bob = DriveClient(sandbox, for: "bob")
    #expect(try await bob.send("GET", path + token).status == 400)
    let other = token.replacing("a1001", with: "a1002")
    #expect(other != token)
    #expect(try await drive.send("GET", path + other).status == 400)
    #expect(try await drive.send("GET", path + token + ".").status == 400)
    sandbox.advance(by: .seconds(3500))
    #expect(try await drive.send("GET", path + token).status == 200)
    sandbox.advance(by: .seconds(3600))
    let stale = try await DriveClient(sandbox).send("GET", path + token)
    #expect(stale.driveError == "pageToken is malformed, too old or another owner's.")
    await sandbox.stop()
  }
}

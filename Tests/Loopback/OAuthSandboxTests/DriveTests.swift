import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct DriveTests {
  private let files = "/drive/v2/files"

  @Test func `a new drive has a name, a size and documents`() async throws {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    #expect(sandbox.driveURL.absoluteString == sandbox.issuer.absoluteString + "/drive/v2")
    let used = sandbox.files().reduce(0) { $0 + $1.content.count }
    let about = try await drive.send("GET", "/drive/v2/about")
    #expect(
      about.text == #"{"kind":"drive#about","name":"Alice Liddell","user":{"kind":"drive#user","#
        + #""displayName":"Alice Liddell"},"quotaBytesTotal":"67108864","#
        + #""quotaBytesUsed":"\#(used)"}"#)
    let list = try await drive.page()
    #expect(list.kind == "drive#fileList" && list.items.count == 5 && list.nextLink == nil)
    #expect(list.titles == sandbox.files().map(\.title))
    #expect(list.items.allSatisfy { Int($0.fileSize) ?? 0 > 50 })
    await sandbox.stop()
  }

  @Test func `a file is added, read, renamed and deleted`() async throws {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
    let sandbox = try await SandboxServer.start(options)
    let drive = DriveClient(sandbox)
    let added = try await drive.json("POST", files, #"{"title":"Ö \"1\"","x":[1],"id":"me"}"#)
    #expect(added.status == 201)
    let file = try added.decoded(FileJSON.self)
    let path = "\(files)/\(file.id)"
    #expect(file.title == "Ö \"1\"" && file.fileSize == "0" && file.id != "me")
    #expect(added.header("location") == sandbox.issuer.absoluteString + path)
    #expect(try await drive.send("GET", path).decoded(FileJSON.self) == file)
    sandbox.advance(by: .seconds(60))
    let renamed = try await drive.json("PUT", path, #"{"title":"two","description":"d"}"#)
    let two = try renamed.decoded(FileJSON.self)
    #expect(two.title == "two" && two.description == "d" && two.id == file.id)
    #expect(file.modifiedDate == "2023-11-14T22:13:20Z")
    #expect(two.modifiedDate == "2023-11-14T22:14:20Z")
    let untouched = try await drive.json("PUT", path, "{}").decoded(FileJSON.self)
    #expect(untouched.title == "two" && untouched.description == "d")
    let gone = try await drive.send("DELETE", path)
    #expect(gone.status == 204 && gone.body.isEmpty && gone.header("content-length") == nil)
    for method in ["GET", "DELETE"] {
      #expect(try await drive.send(method, path).driveError == "There is no such file.")
    }
    #expect(try await drive.json("PUT", path, "{}").status == 404)
    #expect(try await drive.send("GET", path + "?alt=media").driveError != nil)
    #expect(try await drive.send("PUT", "/upload" + path).driveError != nil)
    let next = try await drive.json("POST", files, "{}").decoded(FileJSON.self)
    #expect(next.title == "Untitled" && next.id != file.id, "no id is given twice")
    await sandbox.stop()
  }

  @Test(arguments: [
    ("", "application/json", 400), ("[]", "application/json", 400),
    (#"{"title":1}"#, "application/json", 400), (#"{"title":""}"#, "application/json", 400),
    (#"{"mimeType":"a"}"#, "application/json", 400),
    (#"{"mimeType":"a/b\r\nX: y"}"#, "application/json", 400),
    (#"{"title":"a"}"#, "text/plain", 415), (#"{"title":"a"}"#, "Application/JSON;x=y", 201),
  ])
  func `file metadata must be a valid JSON object`(body: String, type: String, status: Int)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    let answer = try await drive.send(
      "POST", files, [("Content-Type", type)], body: Data(body.utf8))
    #expect(answer.status == status)
    #expect((answer.driveError == nil) == (status == 201))
    #expect(sandbox.files().count == (status == 201 ? 6 : 5))
    await sandbox.stop()
  }

  @Test
  func `reading files needs the scope demo or files, and changing files needs the scope files`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let file = try #require(sandbox.files().first)
    let one = "\(files)/\(file.id)"
    func challenge(_ answer: LoopbackAnswer) -> String? {
      answer.header("www-authenticate").flatMap { field in
        field.split(separator: ", ").last { !$0.hasPrefix("resource_metadata=") }.map(String.init)
      }
    }
    for (scopes, reads, changes) in [
      (["profile"], false, false), (["demo"], true, false), (["files"], true, true),
    ] {
      let drive = DriveClient(sandbox, scopes: scopes)
      for path in ["/drive/v2/about", files, one, one + "?alt=media"] {
        let answer = try await drive.send("GET", path)
        #expect(answer.status == (reads ? 200 : 403))
        #expect(challenge(answer) == (reads ? nil : #"scope="demo""#))
      }
      for answer in [
        try await drive.json("POST", files, "{}"), try await drive.json("PUT", one, "{}"),
        try await drive.send("POST", "/upload" + files),
        try await drive.send("PUT", "/upload" + one),
      ] {
        #expect(changes ? (200...201).contains(answer.status) : answer.status == 403)
        #expect(challenge(answer) == (changes ? nil : #"scope="files""#))
      }
    }
    let nobody = SandboxPeer(sandbox: sandbox)
    for path in ["/drive/v2/about", files, one, one + "?alt=media", "\(files)/none"] {
      let answer = try await nobody.get(path)
      #expect(answer.status == 401)
      let challenge = answer.header("www-authenticate")
      #expect(challenge?.hasPrefix("Bearer realm=\"sandbox\", resource_metadata=") == true)
    }
    await sandbox.stop()
  }

  @Test func `each user and each client has separate files`() async throws {
    let sandbox = try await SandboxServer.start()
    let alice = DriveClient(sandbox)
    let bob = DriveClient(sandbox, for: "bob")
    let file = try #require(sandbox.files(of: "alice").first)
    #expect(try await bob.send("GET", "\(files)/\(file.id)").status == 404)
    #expect(try await bob.send("DELETE", "\(files)/\(file.id)").status == 404)
    _ = try await alice.json("POST", files, #"{"title":"alice"}"#)
    #expect(try await bob.page().titles.contains("alice") == false)
    #expect(sandbox.files(of: "alice").count == 6 && sandbox.files(of: "bob").count == 5)
    let answer = try await SandboxPeer(sandbox: sandbox).post(
      "/token",
      [
        ("grant_type", "client_credentials"), ("client_id", "sandbox-service"),
        ("client_secret", "sandbox-secret"),
      ])
    let client = SandboxPeer(sandbox: sandbox)
    let token = try answer.tokens().accessToken
    let about = try await client.api("/drive/v2/about", token: token)
    #expect(about.text.contains(#""name":"Sandbox Service""#))
    let list: FileListJSON = try await client.api(files, token: token).decoded()
    #expect(list.items.map(\.id) == sandbox.files(ofClient: "sandbox-service").map(\.id))
    await sandbox.stop()
  }

  @Test func `Sequencing's file list returns the samples, the user's files or both`() async throws {
    struct File: Decodable {
      let id: String
      let name: String
      let ext: String
      let fileType: String
      let size: Int
      enum CodingKeys: String, CodingKey {
        case id = "Id"
        case name = "Name"
        case ext = "Ext"
        case fileType = "FileType"
        case size = "Size"
      }
    }
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox, scopes: ["demo"])
    let own = sandbox.addFile("my.vcf.gz", content: Data("abc".utf8))
    func list(_ query: String) async throws -> [File] {
      try await drive.send("GET", "/api/DataSourceList" + query).decoded()
    }
    let uploaded = try await list("?uploaded=true&shared=true&fromApps=true")
    #expect(uploaded.map(\.id) == sandbox.files().map(\.id))
    #expect(uploaded.allSatisfy { $0.fileType == "Uploaded" })
    let last = try #require(uploaded.last)
    #expect(last.id == own.id && last.name == "my.vcf.gz" && last.ext == "vcf.gz")
    #expect(last.size == 3)
    let samples = try await list("?sample=true")
    #expect(samples.count == 6 && samples.allSatisfy { $0.fileType == "Sample" })
    #expect(try await list("?all=true").map(\.id) == (samples + uploaded).map(\.id))
    for query in ["", "?shared=true", "?fromApps=true", "?all=false"] {
      #expect(try await list(query).isEmpty)
    }
    await sandbox.stop()
  }

  @Test func `an unsupported method gets status 405 with the supported methods`() async throws {
    let sandbox = try await SandboxServer.start()
    let drive = DriveClient(sandbox)
    for (method, path, allowed) in [
      ("DELETE", files, "GET, HEAD, POST"), ("POST", files + "/a", "GET, HEAD, PUT, DELETE"),
      ("POST", "/drive/v2/about", "GET, HEAD"), ("PUT", "/upload" + files, "POST"),
      ("POST", "/upload" + files + "/a", "PUT"),
    ] {
      let answer = try await drive.send(method, path)
      #expect(answer.status == 405 && answer.header("allow") == allowed)
    }
    await sandbox.stop()
  }
}

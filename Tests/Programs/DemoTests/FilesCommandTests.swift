import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `The files command` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  /// Starts a sandbox, and stores an account with tokens of this sandbox.
  private func signedIn(
    _ scopes: [String] = ["files"], _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = SandboxOptions()
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    let tokens = sandbox.issueTokens(scopes: scopes)
    try await store.save(
      AccountRecord(
        id: "default", clientID: "sandbox-app", issuer: sandbox.issuer.absoluteString,
        session: "sign-in",
        token: SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)))
    return sandbox
  }

  private var kept: [String] { ["--store", "file:" + folder.file("tokens")] }

  private func files(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(["files"] + words + kept, in: folder)
  }

  @Test func `the files command waits for a silent server only until its time limit`() async throws
  {
    let sandbox = try await signedIn()
    sandbox.misbehave(at: .driveFiles, .delay(.seconds(3600)))
    let outcome = try await files(["--timeout", "1"])
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: request_timed_out: "), "\(outcome.errors)")
    await sandbox.stop()
  }

  // MARK: The list of files

  @Test func `the files command prints one file per line in columns`() async throws {
    let sandbox = try await signedIn()
    let outcome = try await files([])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    let date = #"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"#
    let lines = [
      "f1001  145  \(date)  Read me first.txt", "f1002  219  \(date)  Family history.md",
      "f1003  187  \(date)  Variants to discuss.csv",
      "f1004  180  \(date)  Questions for the counsellor.txt",
      "f1005   81  \(date)  sequencing-order.json",
    ]
    let pattern = try Regex(lines.joined(separator: "\n") + "\n")
    #expect(try pattern.wholeMatch(in: outcome.output) != nil, "\(outcome.output)")
    #expect(sandbox.requests.map(\.description) == ["GET /drive/v2/files"])
    await sandbox.stop()
  }

  @Test func `the files command prints all pages`() async throws {
    let sandbox = try await signedIn { $0.drivesHaveDocuments = false }
    for number in 1...250 { sandbox.addFile("\(number)", content: Data()) }
    let outcome = try await files([])
    #expect(outcome.lines.map { $0.split(separator: " ").last } == (1...250).map { "\($0)" })
    #expect(sandbox.requests(to: .driveFiles).count == 3)
    await sandbox.stop()
  }

  @Test func `the files command prints lines of JSON for programs`() async throws {
    let sandbox = try await signedIn { $0.drivesHaveDocuments = false }
    sandbox.addFile("a \"b\"\n", contentType: "text/x", content: Data("12".utf8))
    sandbox.addFile("c", content: Data())
    let outcome = try await files(["--json"])
    #expect(outcome.lines.count == 2)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.lines[0].utf8)) as? [String: Any])
    #expect(Set(json.keys) == ["id", "title", "size", "modified", "type"])
    #expect(json["title"] as? String == "a \"b\"\n")
    #expect(json["size"] as? Int == 2)
    await sandbox.stop()
  }

  @Test func `the files command prints nothing on standard output if there are no files`()
    async throws
  {
    let sandbox = try await signedIn { $0.drivesHaveDocuments = false }
    let outcome = try await files([])
    #expect(outcome.status == 0)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors == "There are no files.\n")
    #expect(try await files(["--json"]).errors.isEmpty)
    await sandbox.stop()
  }

  @Test func `the files command lists Sequencing's files but refuses to delete them`() async throws
  {
    let sandbox = try await signedIn(["demo"])
    let list = ["--drive", "/api/DataSourceList?sample=true"]
    let outcome = try await files(list)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.first == "227680    187402113  2016-05-18T09:30:00  ada-lovelace.vcf")
    #expect(outcome.lines.last == "227701  48113907552  2016-05-18T09:30:00  tu-youyou.bam")
    let delete = try await files(["delete", "227680"] + list)
    #expect(delete.status == 2)
    #expect(sandbox.requests.map(\.description) == ["GET /api/DataSourceList"])
    await sandbox.stop()
  }

  @Test func `the files command uploads the content of a pipe if a title is given`() async throws {
    let sandbox = try await signedIn()
    for (title, status) in [(["--title", "Piped.txt"], Int32(0)), ([], 2)] {
      let demo = try DemoProcess(
        ["files", "put"] + kept + title, in: folder,
        starter: ["bash", "-c", "exec \"$0\" \"$@\" <(printf 'from a pipe')"])
      let outcome = await demo.outcome()
      #expect(outcome.status == status, "\(outcome.errors)")
      #expect(outcome.output.contains(" 11 ") == (status == 0))
      #expect(outcome.errors.contains("--title is needed") == (status != 0))
    }
    await sandbox.stop()
  }

  // MARK: Access

  @Test func `the files command signs in once, when the first request needs a token`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let outcome = try await files(
      [
        "get", "Family history.md", "-o", folder.file("got"), "--browser", "sandbox", "--issuer",
        sandbox.issuer.absoluteString, "--client-id", "sandbox-app", "--scope", "files",
      ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.errors == """
        Signing in at \(sandbox.issuer.absoluteString).
        The sandbox's simulated user signs in as alice.

        """)
    #expect(sandbox.requests(to: .authorization).count == 1)
    #expect(sandbox.requests(to: .token).count == 1)
    let record = try #require(try await store.load("default"))
    #expect(record.attributes["issuer"] == sandbox.issuer.absoluteString)
    // The next command uses the stored account.
    #expect(try await files([]).lines.count == 5)
    #expect(sandbox.requests(to: .token).count == 1)
    await sandbox.stop()
  }

  @Test func `the files command with --sandbox uses the built-in sandbox for one run`() async throws
  {
    let outcome = try await DemoProcess.run(["files", "--sandbox"], in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 5)
    #expect(!folder.exists("state"))
  }

  @Test func `the files command first refreshes an expired token`() async throws {
    let sandbox = try await SandboxServer.start()
    try await store.keepExpiredAccount(at: sandbox)
    #expect(try await files([]).lines.count == 5)
    #expect(sandbox.requests.map(\.endpoint) == [.metadata, .token, .driveFiles])
    await sandbox.stop()
  }

  @Test func `the files command signs in again after the server has ended the session`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await store.keepExpiredAccount(at: sandbox)
    sandbox.revokeEverything()
    let outcome = try await files(["--browser", "sandbox"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 5)
    #expect(sandbox.requests(to: .authorization).count == 1)
    await sandbox.stop()
  }

  @Test(arguments: [
    (["--browser", "false", "--timeout", "5"], SIGCONT, 3, "timed_out"),
    (["--browser", "sh -c 'sleep 60'"], SIGINT, 3, "cancelled"),
    (["--browser", "sh -c 'sleep 60'"], SIGTERM, 3, "cancelled"),
    (["--browser", "sh -c 'sleep 60'", "--timeout", "5"], SIGCONT, 3, "timed_out"),
  ])
  func `the files command ends with the error of a failed sign-in`(
    options: [String], signal: Int32, status: Int32, code: String
  ) async throws {
    let demo = try DemoProcess(["files", "--sandbox"] + options, in: folder)
    try await eventually("the sign-in begins") {
      demo.errors.hasPrefix("Signing in at the built-in")
    }
    demo.send(signal)
    let outcome = await demo.outcome()
    #expect(outcome.status == status && !outcome.isKilled)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nerror: \(code): "), "\(outcome.errors)")
  }

  @Test func `the files command shows the challenge of the API`() async throws {
    let sandbox = try await signedIn(["demo"])
    #expect(try await files([]).status == 0)
    let outcome = try await files(["delete", "f1001"])
    #expect(outcome.status == 1)
    #expect(outcome.firstError.hasPrefix("error: insufficient_scope: "))
    #expect(outcome.errors.contains("\nchallenge: Bearer "))
    #expect(outcome.errors.contains("scope=\"files\""))
    await sandbox.stop()
  }

  @Test func `the files command does not print a token that the API's answer repeats`() async throws
  {
    let sandbox = try await signedIn()
    let token = try #require(try await store.load("default")?.token.accessToken)
    sandbox.misbehave(
      at: .driveFiles, .status(400, body: #"{"error":{"message":"no \#(token)\u001b[2J"}}"#))
    let outcome = try await files([])
    #expect(outcome.status == 1)
    let reason = "the API answered with status 400: no [removed]?[2J"
    #expect(outcome.errors == "error: http_400: \(reason)\n")
    await sandbox.stop()
  }

  // MARK: Changes

  @Test func `the files command puts, renames and deletes files, and prints their new state`()
    async throws
  {
    let sandbox = try await signedIn { $0.drivesHaveDocuments = false }
    try folder.write("the content\n", to: "a b.txt")
    let put = try await files(["put", folder.file("a b.txt")])
    #expect(put.status == 0, "\(put.errors)")
    #expect(put.output.hasPrefix("f1001  12  20") && put.output.hasSuffix("Z  a b.txt\n"))
    #expect(put.errors.isEmpty)
    #expect(sandbox.files().first?.content == Data("the content\n".utf8))

    let rename = try await files(["rename", "a b.txt", "ü/?&=%.txt", "--json"])
    #expect(rename.status == 0, "\(rename.errors)")
    #expect(rename.output.contains(#""title":"ü/?&=%.txt""#))
    #expect(sandbox.files().map(\.title) == ["ü/?&=%.txt"])

    let second = try await files(["put", folder.file("a b.txt"), "--title", "ü/?&=%.txt"])
    #expect(second.status == 0)
    let either = try await files(["delete", "ü/?&=%.txt"])
    #expect(either.status == 2)
    #expect(either.firstError.hasPrefix("error: file_ambiguous: 2 files are called "))
    #expect(either.errors.contains("\nf1002  12  20"))

    let delete = try await files(["delete", "f1001"])
    #expect(delete.output == "Deleted \"ü/?&=%.txt\".\n")
    #expect(sandbox.files().map(\.id) == ["f1002"])
    let again = try await files(["delete", "f1001"])
    #expect(again.status == 1)
    #expect(again.errors == "error: no_file: there is no file \"f1001\"\n")
    await sandbox.stop()
  }

  @Test func `the files command renames an uploaded file to which the API gave a wrong title`()
    async throws
  {
    let sandbox = try await signedIn()
    try folder.write("x", to: "x")
    sandbox.misbehave(at: .driveUpload, .member("title", "Untitled"))
    let put = try await files(["put", folder.file("x"), "--title", "mine"])
    #expect(put.output.hasSuffix("  mine\n"))
    #expect(sandbox.requests.map(\.method) == ["POST", "PUT"])
    await sandbox.stop()
  }

  // MARK: Contents

  @Test
  func `the files command saves a download at the path of --output, and replaces a file there`()
    async throws
  {
    let sandbox = try await signedIn()
    let content = pattern(300_000)
    sandbox.addFile("big one", content: content)
    let path = folder.file("here")
    let outcome = try await files(["get", "big one", "-o", path])
    #expect(outcome.output == "Saved as \(path).\n")
    #expect(outcome.errors.isEmpty)
    #expect(FileManager.default.contents(atPath: path) == content)
    // An existing file is replaced if the user names it.
    #expect(try await files(["get", "f1001", "--output", path, "--json"]).status == 0)
    #expect(FileManager.default.contents(atPath: path)?.count == 145)
    await sandbox.stop()
  }

  @Test func `the files command continues an interrupted download`() async throws {
    let sandbox = try await signedIn()
    let content = pattern(1_000_000)
    let id = sandbox.addFile("genome", content: content).id
    sandbox.misbehave(at: .driveContent, .stall(afterBodyBytes: 600_000))
    let path = folder.file("genome")
    let demo = try DemoProcess(["files", "get", "genome", "-o", path] + kept, in: folder)
    try await eventually("the first 600,000 bytes are saved") {
      (try? TemporaryFolder.size(path + ".partial")) == 600_000
    }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled)
    #expect(
      outcome.errors == """
        error: cancelled: the command was interrupted
        The first part of the file is in \(path).partial. Run the same command again to continue.

        """)
    #expect(!folder.exists("genome"))

    #expect(try await files(["get", id, "-o", path]).status == 0)
    #expect(FileManager.default.contents(atPath: path) == content)
    #expect(
      sandbox.requests(to: .driveContent).map { $0.header("range") } == [
        nil, "bytes=600000-",
      ])
    #expect(!folder.exists("genome.partial"))
    await sandbox.stop()
  }

  @Test func `the files command does not change a user's own file named like a partial download`()
    async throws
  {
    let sandbox = try await signedIn()
    sandbox.addFile("thesis", content: pattern(1000))
    let path = folder.file("thesis")
    try folder.write("three years of work", to: "thesis.partial")
    let outcome = try await files(["get", "thesis", "-o", path])
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("\(path).partial"))
    #expect(outcome.errors.contains("\nName another file with --output.\n"))
    #expect(folder.read("thesis.partial") == "three years of work")
    #expect(!folder.exists("thesis"))
    #expect(sandbox.requests(to: .driveContent).isEmpty)
    await sandbox.stop()
  }

  @Test(arguments: ["get", "put"])
  func `the files command shows the progress on a terminal`(action: String) async throws {
    let sandbox = try await signedIn()
    let terminal = try PseudoTerminal()
    let content = Data(repeating: 7, count: 1_000_000)
    sandbox.addFile("whole.vcf", content: content)
    try content.write(to: URL(filePath: folder.file("whole.vcf")))
    let words =
      action == "get" ? ["whole.vcf", "-o", folder.file("x")] : [folder.file("whole.vcf")]
    let demo = try DemoProcess(
      ["files", action] + words + kept, in: folder, output: try folder.handle("output"),
      errors: terminal.handle)
    #expect(await demo.outcome().status == 0)
    let last = "\rwhole.vcf  ━━━━━━━━━━━━━━━━ 100 %  1.0 MB\r\n"
    try await eventually("the bar is full") {
      terminal.everything.replacing(#/\x1B\[[0-9;]*[A-Za-z]/#, with: "").hasSuffix(last)
    }
    #expect(!demo.output.contains("\u{1B}"))
    await sandbox.stop()
  }

  // MARK: Wrong usage

  @Test(arguments: [
    ["put", "/nonexistent"], ["put", "/"], ["get", "a", "-o", "-"],
    ["--drive", "nonsense"], ["--drive", "http://example.com/drive"], ["rename", "a", ""],
    ["put", "/etc/passwd", "--drive", "https://"],
    ["delete", "a", "--drive", "https://api.example.com/DataSourceList?all=true"],
  ])
  func `the files command rejects an impossible request before a sign-in`(words: [String])
    async throws
  {
    let outcome = try await files(words + ["--browser", "print"])
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: "))
    #expect(!outcome.errors.contains("Signing in"))
  }
}

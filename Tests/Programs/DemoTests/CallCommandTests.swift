import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `The call command` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func call(_ words: [String], input: String? = nil) async throws -> DemoProcess.Outcome {
    var handle: FileHandle?
    if let input {
      try folder.write(input, to: "input")
      handle = FileHandle(forReadingAtPath: folder.file("input"))
    }
    return await
      (try DemoProcess(
        ["call"] + words + ["--store", "file:" + folder.file("tokens")], in: folder,
        input: handle)).outcome()
  }

  @Test func `the call command prints only the body, and first refreshes an expired token`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount(at: sandbox)
    for url in ["/api/me", sandbox.url(.me).absoluteString] {
      let outcome = try await call(["get", url])
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output.hasPrefix(#"{"user_name":"alice","#))
      #expect(outcome.output.hasSuffix("}"))
      #expect(outcome.errors.isEmpty)
    }
    #expect(sandbox.requests(to: .token).count == 1)
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  @Test func `the call command with --sandbox uses the built-in sandbox for one run`() async throws
  {
    let outcome = try await DemoProcess.run(["call", "GET", "/api/me", "--sandbox"], in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix(#"{"user_name":"alice","#))
    #expect(!folder.exists("state"))
  }

  @Test(arguments: [false, true])
  func `the call command sends the given body and header fields, but not a given Authorization`(
    fromInput: Bool
  ) async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    try folder.write("the content\u{0}\n", to: "body")
    let outcome = try await call(
      [
        "POST", "/api/me?x=1", "--header", "X-One: 1: a", "--header=X-Two:2",
        "--header", "Authorization: Basic abc", "--body", fromInput ? "-" : folder.file("body"),
      ], input: "the content\u{0}\n")
    // The sandbox has this endpoint, but not for POST.
    #expect(outcome.status == 1)
    let request = try #require(sandbox.requests(to: .me).last)
    #expect(request.method == "POST")
    #expect(request.query("x") == "1")
    #expect(request.body == Data("the content\u{0}\n".utf8))
    let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { $0 + ", " + $1 }
    #expect(headers["x-one"] == "1: a")
    #expect(headers["x-two"] == "2")
    let token = try #require(try await store.load("default")?.token.accessToken)
    #expect(headers["authorization"] == "Bearer " + token)
    await sandbox.stop()
  }

  /// A shell's `<(command)` is a pipe of unknown length.
  @Test(arguments: [("<(printf 'from a pipe')", "from a pipe"), ("/dev/null", "")])
  func `the call command sends the content of a pipe or a device`(file: String, content: String)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let demo = try DemoProcess(
      ["call", "POST", "/api/me", "--store", "file:" + folder.file("tokens")], in: folder,
      starter: ["bash", "-c", "exec \"$0\" \"$@\" --body \(file)"])
    #expect(await demo.outcome().errors.contains("http_405"))
    let request = try #require(sandbox.requests(to: .me).last)
    #expect(request.method == "POST" && request.body == Data(content.utf8))
    await sandbox.stop()
  }

  @Test func `the call command can be interrupted while it waits for a pipe's content`()
    async throws
  {
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let demo = try DemoProcess(["call", "POST", "/api/me", "--body", path], in: folder)
    // The pipe can be opened for writing only after the program has opened it for reading.
    let writer = try await eventually("the pipe is opened") {
      let file = open(path, O_WRONLY | O_NONBLOCK)
      return file >= 0 ? file : nil
    }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled)
    #expect(outcome.errors == "error: cancelled: the command was interrupted\n")
    close(writer)
  }

  @Test
  func `the call command ends with status 1 after an error answer, and still prints the body`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    sandbox.misbehave(at: .me, .status(503, body: "come back later"))
    let outcome = try await call(["GET", "/api/me"])
    #expect(outcome.status == 1)
    #expect(outcome.output == "come back later")
    #expect(outcome.firstError.hasPrefix("error: http_503: the answer to GET http://127.0.0.1:"))
    #expect(outcome.errors.hasSuffix("/api/me has status 503\n"))
    await sandbox.stop()
  }

  @Test
  func `the call command shows an error page's heading on a terminal, and the page in a pipe`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let page = try await call(["GET", "/nothing"])
    #expect(page.status == 1 && page.firstError.hasPrefix("error: http_404: "))
    #expect(page.lines.count > 50 && page.output.lowercased().hasPrefix("<!doctype html>"))
    let terminal = try PseudoTerminal()
    let demo = try DemoProcess(
      ["call", "GET", "/nothing", "--store", "file:" + store.path], in: folder,
      output: terminal.handle)
    #expect(await demo.outcome().status == 1)
    try await eventually("the error is shown") {
      terminal.everything.hasSuffix("/nothing has status 404\r\n")
    }
    let lines = terminal.everything.components(separatedBy: "\r\n")
    #expect(lines[0] == "There is nothing here")
    #expect(lines[1].hasPrefix("(An HTML page, ") && lines[2].hasPrefix("error: http_404: "))
    #expect(lines.count == 4)
    await sandbox.stop()
  }

  @Test(
    arguments: [
      ("<title>A&amp;B</title><p>one", "A&B"),
      ("<TITLE>t</TITLE><h1 id=x>Not\n <i>here</i></h1><H1>2</H1>", "Not here"),
      ("<p>1 < 2 <h1>Gone", nil), ("", nil), ("<h1> </h1><title>t</title>", "t"),
      ("<h12>no</h12><header><h1>a < b</h1>", "a < b"), ("<h1>a<br/>b</h1", nil),
      ("<title>t</title><h1", "t"), ("<H1\nid=x>é</h1 >x</h1>", "éx"),
      (
        "<h1>\(String(repeating: "ab ", count: 200))</h1>",
        String(repeating: "ab ", count: 66) + "a…"
      ),
    ] as [(String, String?)])
  func `the call command finds the heading of an error page`(page: String, heading: String?) {
    #expect(HTMLSummary(page).heading == heading)
  }

  /// A search that restarts at each tag would take minutes for these pages.
  @Test(arguments: [
    "<h1>", "<h1 ", "<h1></h1>", "<h1><", "<title>", "<", "<h1>a</h1 <", "</h1><h1",
  ])
  func `the call command reads an error page with many tags in one pass`(tag: String) {
    let page = String(repeating: tag, count: 70_000 / tag.utf8.count)
    #expect(HTMLSummary(page).heading ?? "" != tag)
    #expect(HTMLSummary("<h1>" + page + "</h1>").text(ofBytes: 1).utf8.count < 1000)
  }

  @Test func `the call command sends the token only to servers that a --resource option named`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    var options = SandboxOptions()
    options.resources.describesItself = false
    let other = try await SandboxServer.start(options)
    let login = [
      "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id,
      "--browser", "sandbox", "--store", "file:" + store.path, "--resource",
    ]
    let signedIn = try await DemoProcess.run(login + [sandbox.issuer.absoluteString], in: folder)
    #expect(signedIn.status == 0, "\(signedIn.errors)")
    #expect(try await call(["GET", sandbox.url(.me).absoluteString]).status == 0)
    let refused = try await call(["GET", other.url(.me).absoluteString])
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(refused.firstError.hasPrefix("error: origin_not_allowed: "), "\(refused.errors)")
    #expect(
      refused.firstError.hasSuffix("so the token was not sent"), "the line names no Swift code")
    #expect(
      refused.errors.hasSuffix(
        "\nName the server with --resource, as well as the servers that you gave to 'login'.\n"
          + "'sq-demo explain origin_not_allowed' says more.\n"))
    #expect(other.requests(to: .me).allSatisfy { $0.header("authorization") == nil })
    other.forgetRequests()
    let named = ["--resource", other.issuer.absoluteString]
    #expect(try await call(["GET", other.url(.me).absoluteString] + named).status == 1)
    let sent = other.requests(to: .me).compactMap(\.bearerToken)
    #expect(sent.contains { sandbox.isActive($0) }, "the given --resource applies to this run")
    await sandbox.stop()
    await other.stop()
  }

  /// The SDK knows Google's APIs, but the user may name another server.
  @Test
  func `the call command sends the token of a Google account to a server that the user names`()
    async throws
  {
    var options = SandboxOptions()
    options.resources.describesItself = false
    let sandbox = try await SandboxServer.start(options)
    let token = sandbox.issueTokens().accessToken
    try await store.save(
      AccountRecord(
        id: "default", clientID: "app", issuer: "https://accounts.google.com",
        token: SQToken(accessToken: token)))
    let outcome = try await call(["GET", sandbox.url(.me).absoluteString, "--account", "default"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `the call command waits for a silent server only until its time limit`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    sandbox.misbehave(at: .me, .delay(.seconds(3600)))
    let outcome = try await call(["GET", "/api/me", "--timeout", "1"])
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: request_timed_out: "), "\(outcome.errors)")
    #expect(outcome.firstError.contains(" 1.0 seconds "), "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `the call command shows the challenge of the server`() async throws {
    let sandbox = try await SandboxServer.start()
    let tokens = sandbox.issueTokens(scopes: ["profile"])
    try await store.save(
      AccountRecord(
        id: "default", clientID: "sandbox-app", issuer: sandbox.issuer.absoluteString,
        token: SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)))
    let outcome = try await call(["GET", "/api/DataSourceList"])
    #expect(outcome.status == 1)
    #expect(outcome.firstError.hasPrefix("error: insufficient_scope: "))
    #expect(outcome.errors.contains("\nchallenge: Bearer error=\"insufficient_scope\", "))
    #expect(outcome.errors.contains("scope=\"demo\""))
    let command = "sq-demo login --account default --store file:\(store.path)"
    #expect(
      outcome.errors.hasSuffix(
        "\nSign in again with '\(command)' and a wider --scope.\n"
          + "'sq-demo explain insufficient_scope' says more.\n"))
    #expect(sandbox.requests(to: .token).isEmpty)
    await sandbox.stop()
  }

  @Test func `the call command does not print a token that the server's answer repeats`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let tokens = sandbox.issueTokens()
    try await store.save(
      AccountRecord(
        id: "default", clientID: "sandbox-app", issuer: sandbox.issuer.absoluteString,
        token: SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)))
    for (status, error) in [(403, "insufficient_scope"), (400, "other")] {
      let challenge = "Bearer error=\"\(error)\", realm=\"\(tokens.accessToken)\""
      sandbox.misbehave(at: .me, .status(status, headers: ["WWW-Authenticate": challenge]))
      let outcome = try await call(["GET", "/api/me"])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("\nchallenge: Bearer error=\"\(error)\", realm=\""))
      #expect(!outcome.errors.contains(tokens.accessToken))
    }
    await sandbox.stop()
  }

  @Test(arguments: [
    (["GET", "http://example.com/x"], "insecure_endpoint"), (["GET", "ftp://x/"], "malformed"),
    (["GET", "nonsense"], "malformed"), (["GET", "//x.example/"], "malformed"),
    (["GET", "/x", "--header", "hunter2"], "usage"), (["GET", "/x", "--header", ": x"], "usage"),
    (["GET", "/x", "--body", "/nonexistent"], "usage"),
    (["GET", "/x", "--body", "/dev/zero"], "usage"), (["GET", "/x", "--body", "/"], "usage"),
    (["GET", "/x", "--body", "-", "--redirect-uri", "com.example.app:/cb"], "usage"),
  ])
  func `the call command rejects an invalid request before a sign-in`(
    words: [String], code: String
  ) async throws {
    let outcome = try await call(words + ["--browser", "print"])
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: \(code)"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("hunter2"))
  }
}

import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A pasted redirect` {
  private let folder: TemporaryFolder
  /// The program's standard input, and the write end of its pipe, which the test uses to type.
  private let input: FileHandle
  private let keyboard: FileHandle

  init() throws {
    folder = try TemporaryFolder()
    let pipe = try ChildPipe()
    input = FileHandle(fileDescriptor: pipe.readEnd, closeOnDealloc: true)
    keyboard = FileHandle(fileDescriptor: pipe.writeEnd, closeOnDealloc: true)
  }

  private func sandbox(_ redirectURI: String) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: "app", name: "App", redirectURIs: [redirectURI])]
    return try await SandboxServer.start(options)
  }

  private func start(
    at sandbox: SandboxServer, _ redirectURI: String, _ more: [String] = ["--browser", "print"]
  ) throws -> DemoProcess {
    try DemoProcess(
      [
        "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "app",
        "--redirect-uri", redirectURI, "--store", "file:" + folder.file("tokens"),
      ] + more, in: folder, input: input)
  }

  private func write(_ line: String) throws {
    try keyboard.write(contentsOf: Data("\(line)\n".utf8))
  }

  @Test(arguments: [
    ("com.example.app:/callback", false), ("authapp://Default/Authcallback", true),
  ])
  func `a pasted redirect completes the sign-in, and a scheme without a domain causes a warning`(
    uri: String, isWeak: Bool
  ) async throws {
    let sandbox = try await sandbox(uri)
    let demo = try start(at: sandbox, uri)
    try await eventually("login asks for the redirect") {
      demo.errors.contains("It starts with \(uri). ")
    }
    let url = try #require(URL(string: String(demo.output.dropLast())))
    let redirect = try await SandboxVisitor().visit(url).redirect
    try write("")
    try write("nonsense")
    try write(uri + "?code=forged&state=guessed")
    try await eventually("both wrong lines are refused") {
      demo.errors.components(separatedBy: "That is not the answer").count == 3
    }
    try write("  \(redirect)\t")
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.contains("Signed in."))
    #expect(outcome.errors.components(separatedBy: "warning: ").count == (isWeak ? 2 : 1))
    #expect(!outcome.errors.contains("code="))
    #expect(folder.read("tokens").contains("access-"))
    await sandbox.stop()
  }

  @Test func `a pasted redirect with an error but no state causes a warning`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let demo = try start(at: sandbox, uri)
    try await eventually("login asks for the redirect") {
      demo.errors.contains("It starts with \(uri). ")
    }
    try write(uri + "?error=access_denied&error_description=Not%20you")
    try await eventually("the warning appears") {
      demo.errors.contains(
        "warning: a redirect without a state said: access_denied (Not you)")
    }
    #expect(demo.errors.contains("the sign-in still waits, and Ctrl-C cancels it"))
    let url = try #require(URL(string: String(demo.output.dropLast())))
    try write(try await SandboxVisitor().visit(url).redirect)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `a pasted redirect may come in two lines`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let demo = try start(at: sandbox, uri)
    try await eventually("login asks for the redirect") {
      demo.errors.contains("It starts with \(uri). ")
    }
    let url = try #require(URL(string: String(demo.output.dropLast())))
    let redirect = try await SandboxVisitor().visit(url).redirect
    // The first part ends inside the state, so the first line alone is not the redirect.
    let state = try #require(redirect.firstRange(of: "state="))
    let end = redirect.index(state.upperBound, offsetBy: 5)
    try write(String(redirect[..<end]))
    try write(String(redirect[end...]))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `a sign-in is cancelled after 20 pasted lines that are not the redirect`() async throws
  {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let demo = try start(at: sandbox, uri)
    for _ in 0..<30 { try write("nonsense") }
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && outcome.errors.contains("\nerror: cancelled: 20 lines "))
    #expect(outcome.errors.components(separatedBy: "That is not the answer").count == 21)
    await sandbox.stop()
  }

  @Test(arguments: [true, false])
  func `a pasted redirect that the terminal cuts off is not used`(isCutOff: Bool) async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let terminal = try PseudoTerminal(columns: 200)
    if !isCutOff {
      var modes = termios()
      tcgetattr(terminal.handle.fileDescriptor, &modes)
      modes.c_lflag &= ~tcflag_t(ICANON)
      tcsetattr(terminal.handle.fileDescriptor, TCSANOW, &modes)
    }
    let demo = try DemoProcess(
      [
        "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "app",
        "--redirect-uri", uri, "--store", "memory", "--browser", "print",
      ], in: folder, input: terminal.handle)
    try await eventually("login asks for the redirect") {
      demo.errors.contains("It starts with \(uri). ")
    }
    let url = try #require(URL(string: String(demo.output.dropLast())))
    let redirect = try await SandboxVisitor().visit(url).redirect
    try terminal.press(redirect + "&more=" + String(repeating: "a", count: 5000) + "\n")
    if isCutOff {
      try await eventually("the pasted line is refused") {
        demo.errors.contains("keeps 4095 bytes of a line") && demo.errors.contains("stty -icanon")
      }
      #expect(sandbox.requests(to: .token).isEmpty)
      demo.send(SIGINT)
    }
    let outcome = await demo.outcome()
    #expect(outcome.status == (isCutOff ? 3 : 0), "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `a pasted redirect is not needed with --browser sandbox`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let outcome = await (try start(at: sandbox, uri, ["--browser", "sandbox"])).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.errors.contains("paste"))
    await sandbox.stop()
  }

  @Test func `a sign-in is cancelled if standard input ends before a redirect is pasted`()
    async throws
  {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    try keyboard.close()
    let outcome = await (try start(at: sandbox, uri)).outcome()
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("\nerror: cancelled: standard input ended"))
    await sandbox.stop()
  }

  @Test func `a custom-scheme redirect URI works at the built-in sandbox, with a warning`()
    async throws
  {
    let outcome = try await DemoProcess.run(
      ["token", "--sandbox", "--redirect-uri", "authapp://Default/Authcallback"],
      in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 1)
    #expect(outcome.errors.contains("\nwarning: "))
  }

  @Test func `a pasted redirect is accepted while a browser command runs`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let (seen, end) = (folder.file("url"), folder.file("end"))
    let script = "sh -c 'echo \"$0\" >\(seen); until [ -e \(end) ]; do sleep 0.01; done'"
    let demo = try start(at: sandbox, uri, ["--browser", script])
    try await eventually("login asks for the redirect") { demo.errors.contains("It starts with") }
    let url = try await eventually("the command runs") {
      let text = folder.read("url")
      return text.hasSuffix("\n") ? URL(string: String(text.dropLast())) : nil
    }
    try write(try await SandboxVisitor().visit(url).redirect)
    try await eventually("the sign-in succeeds") { demo.output.contains("Signed in.") }
    #expect(await demo.outcome().status == 0)
    try folder.write("", to: "end")
    await sandbox.stop()
  }

  /// How the address reaches a browser on another machine.
  enum Way: CaseIterable {
    case printed
    case noBrowser
    /// A command in the option `--browser` shows the address to a user who is connected by SSH.
    case commandOverSSH
  }

  @Test(arguments: Way.allCases, ["login", "call"])
  func `a pasted redirect is accepted on a terminal for a loopback redirect of a remote browser`(
    way: Way, command: String
  ) async throws {
    let sandbox = try await sandbox("http://127.0.0.1/callback")
    sandbox.misbehave(at: .metadata, .member("device_authorization_endpoint", nil), times: nil)
    let terminal = try PseudoTerminal(columns: 200)
    let seen = folder.file("url")
    let demo = try DemoProcess(
      (command == "login"
        ? ["login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "app"]
        : ["call", sandbox.url(.me).absoluteString])
        + ["--store", "memory"] + (way == .printed ? ["--browser", "print"] : [])
        + (way == .commandOverSSH ? ["--browser", "sh -c 'echo \"$0\" >\(seen)'"] : []),
      in: folder,
      environment: way == .commandOverSSH
        ? ["SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"] : [:],
      input: terminal.handle, output: terminal.handle)
    try await eventually("login asks for the redirect") {
      terminal.everything.contains("Paste that address here:")
    }
    let address = try await eventually("the address is shown") {
      let text = way == .commandOverSSH ? folder.read("url") : terminal.everything
      return text.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+\/authorize\S+\s/)?.output
    }
    #expect(terminal.everything.matches(of: /Paste that/).count == 1)
    let redirect = try await self.redirect(
      at: address.trimmingCharacters(in: .whitespacesAndNewlines), sandbox)
    try terminal.press("nonsense\n")
    try await eventually("the pasted line is refused") {
      terminal.everything.contains(/does not start with http:\/\/127\.0\.0\.1:\d+\/callback\./)
    }
    try terminal.press(redirect + "\n")
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(terminal.everything)")
    // The terminal may deliver the program's last output after the program has ended.
    if command == "call" {
      try await eventually("the answer is shown") {
        terminal.everything.contains(#"{"user_name":"alice","#)
      }
    }
    await sandbox.stop()
  }

  /// Signs in at an address like a browser on another machine.
  ///
  /// Returns the redirect, which that browser cannot follow.
  private func redirect(at address: String, _ sandbox: SandboxServer) async throws -> String {
    var cookie: String?
    func send(_ address: String, _ form: [(String, String)]? = nil) async throws -> WebResponse {
      var request = WebRequest(
        method: form == nil ? "GET" : "POST", url: try #require(URL(string: address)))
      request.headers["Cookie"] = cookie
      if let form {
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        request.body = .bytes(Data(form.map { "\($0)=\($1)" }.joined(separator: "&").utf8))
      }
      let response = try await CurlTransport.shared.send(request)
      cookie = response.headers["Set-Cookie"].map { String($0.prefix { $0 != ";" }) } ?? cookie
      return response
    }
    func fields(_ page: WebResponse) throws -> [(String, String)] {
      try ["request", "form_token"].map { name in
        let pattern = try Regex(#"name="\#(name)" value="([^"]*)""#)
        let match = try #require(String(decoding: page.body, as: UTF8.self).firstMatch(of: pattern))
        return (name, String(try #require(match.output[1].substring)))
      }
    }
    let issuer = sandbox.issuer.absoluteString
    let login = try fields(try await send(address))
    let alice = [("username", "alice"), ("password", "alice-password"), ("decision", "sign-in")]
    let next = try await send(issuer + "/login", login + alice)
    let consent = try await send(issuer + (try #require(next.headers["Location"])))
    let end = try await send(
      issuer + "/consent", try fields(consent) + [("decision", "allow")])
    return try #require(end.headers["Location"])
  }
}

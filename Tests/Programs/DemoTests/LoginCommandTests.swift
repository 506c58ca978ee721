import Foundation
import LoopbackSupport
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The login command` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(arguments, in: folder, environment: environment)
  }

  private func interrupted(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.interrupted(arguments, in: folder, environment: environment)
  }

  /// The words of a login at a server that does not need to run.
  private let nowhere = [
    "login", "--authorize", "http://127.0.0.1:9/authorize", "--token", "http://127.0.0.1:9/token",
    "--client-id", "app",
  ]

  @Test func `login signs in at the built-in sandbox and prints one JSON object`() async throws {
    let outcome = try await run(["login", "--browser", "sandbox", "--json"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(
      Set(json.keys) == [
        "access_token", "token_type", "expires_at", "expires_in", "scope", "refresh_token",
      ])
    let token = try #require(json["access_token"] as? String)
    #expect(!outcome.errors.contains(token))
    #expect(outcome.errors.contains("built-in sandbox"))
    // The account of the built-in sandbox is not kept for another run.
    let person = try await run(["login", "--browser", "sandbox"])
    #expect(person.output.hasSuffix("\nThe account is not kept: it ends with this run.\n"))
    #expect(!folder.exists("state"))
  }

  @Test func `login prints a readable result without the token`() async throws {
    let outcome = try await run(
      ["login", "--browser", "sandbox", "--scope", "demo", "--store", "file:" + folder.file("t")])
    #expect(outcome.status == 0)
    #expect(outcome.lines.first == "Signed in.")
    #expect(outcome.output.contains("  scope    demo\n"))
    #expect(!(outcome.output + outcome.errors).contains("access-"))
    #expect(folder.read("t").contains("access-"))
  }

  @Test(arguments: [["--auth", "basic"], ["--auth", "post"], []])
  func `login takes the secret from the environment and does not pass it to the browser`(
    auth: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let seen = folder.file("seen")
    let provider = [
      "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.service.id,
    ]
    let secret = ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""]
    let outcome = try await run(
      ["login", "--browser", "sandbox", "--store", "memory"] + provider + auth, secret)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let script = "sh -c 'trap \"\" INT; env >\(seen); echo end >>\(seen)'"
    let command = try await interrupted(["login", "--browser", script] + provider + auth, secret)
    #expect(command.status == 3)
    #expect(folder.read("seen").contains("HOME="))
    #expect(!folder.read("seen").contains("SQ_CLIENT_SECRET"))
    await sandbox.stop()
  }

  @Test func `login takes the secret from a file`() async throws {
    let sandbox = try await SandboxServer.start()
    try folder.write("sandbox-secret\n", to: "secret")
    let outcome = try await run([
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-service", "--client-secret-file", folder.file("secret"),
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `login prints the error code of a wrong client secret, but not the secret`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let outcome = try await run(
      [
        "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
        "--client-id", "sandbox-service",
      ], ["SQ_CLIENT_SECRET": "hunter2"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\nerror: invalid_client: "))
    #expect(!(outcome.output + outcome.errors).contains("hunter2"))
    await sandbox.stop()
  }

  @Test func `login ends with status 3 when access is denied`() async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .authorization, .errorRedirect("access_denied"))
    let outcome = try await run([
      "login", "--json", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-app",
    ])
    #expect(outcome.status == 3)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nerror: access_denied: "))
    // Before the sign-in, the program checked that the store works. This check leaves only folders.
    let kept = FileManager.default.enumerator(atPath: folder.file("state"))
    let files = kept?.compactMap { $0 as? String }.filter { path in
      var isFolder: ObjCBool = false
      let full = folder.file("state/" + path) as String
      return FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
    #expect(files?.isEmpty != false)
    await sandbox.stop()
  }

  @Test func `login ends with status 1 when the server fails`() async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .token, .html)
    let outcome = try await run([
      "login", "--json", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-app",
    ])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nerror: invalid_response: "))
    await sandbox.stop()
  }

  @Test(arguments: [SandboxMisbehaviour.status(401), .error("invalid_grant")])
  func `login does not suggest a new login if the token endpoint rejects the current one`(
    _ refusal: SandboxMisbehaviour
  ) async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .token, refusal)
    let outcome = try await run([
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-app",
    ])
    #expect(outcome.status == 1)
    #expect(!sandbox.requests(to: .token).isEmpty)
    #expect(!outcome.errors.contains("sq-demo login"), "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `login ends with status 1 when the server cannot be reached`() async throws {
    let port = try ClosedPort()
    let outcome = try await run([
      "login", "--issuer", "http://127.0.0.1:\(port.number)", "--client-id", "x",
    ])
    #expect(outcome.status == 1)
    // The test's environment has no browser, so the program contacts the server before it prints
    // anything.
    #expect(
      outcome.errors.split(separator: "\n").contains { $0.hasPrefix("error: connection_failed: ") })
  }

  @Test func `login ends with status 3 when the user does not sign in in time`() async throws {
    let outcome = try await run(nowhere + ["--timeout", "1", "--browser", "true"])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("\nerror: timed_out: "))
  }

  @Test func `a browser that keeps running does not hold login's outputs open after login exits`()
    async throws
  {
    // The browser runs in its own session, because the rest of the program's process group is
    // killed at the end.
    let script = """
      setsid bash -c 'echo $$ >"$0"; exec sleep 300' "\(folder.file("browser"))" &
      until [ -s "\(folder.file("browser"))" ]; do sleep 0.01; done
      echo its own words
      """
    try folder.write(script, to: "script")
    let browser = "bash \(folder.file("script"))"
    let outcome = try await run(nowhere + ["--timeout", "10", "--browser", browser])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("its own words\n"))
    let text = folder.read("browser").trimmingCharacters(in: .whitespacesAndNewlines)
    let process = try #require(pid_t(text))
    let (files, descriptors) = (FileManager.default, "/proc/\(process)/fd")
    let targets = try files.contentsOfDirectory(atPath: descriptors).compactMap {
      try? files.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
    }
    #expect(targets.count >= 3, "\(targets)")
    // `DemoProcess` gives these names to the files for the outputs.
    for name in ["/output", "/errors"] {
      #expect(!targets.contains { $0.hasSuffix(name) }, "\(targets)")
    }
    #expect(kill(process, SIGKILL) == 0, "the browser still runs")
  }

  @Test(arguments: ["/nonexistent/browser --new", "false", "sh -c 'exit 7'"])
  func `login prints the address and waits if the browser cannot be run`(
    command: String
  ) async throws {
    let outcome = try await run(nowhere + ["--browser", command, "--timeout", "5"])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("\nwarning: no browser was opened: the browser command "))
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("http://127.0.0.1:9/authorize?response_type=code&"))
    #expect(outcome.errors.contains("\nerror: timed_out: "))
  }

  @Test func `login prints the address on standard error if the output is JSON`()
    async throws
  {
    let outcome = try await run(nowhere + ["--json", "--timeout", "5"])
    #expect(outcome.status == 3)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nhttp://127.0.0.1:9/authorize?response_type=code&"))
  }

  @Test func `login completes a sign-in at the printed address if no browser opens`() async throws {
    let demo = try DemoProcess(["login"], in: folder)
    try await eventually("an address is printed") { demo.output.hasSuffix("\n") }
    #expect(demo.errors.contains("\nwarning: no browser was opened: there is no display"))
    try await eventually("login says how long it waits, and what helps without a browser") {
      demo.errors.hasSuffix(
        "\nWaiting for you to sign in, 300 s at most (--timeout changes that). Ctrl-C cancels."
          + "\nWithout a browser: --browser sandbox plays the sandbox's user.\n")
    }
    let address = try #require(URL(string: String(demo.output.dropLast())))
    _ = try await SandboxVisitor().visit(address)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.contains("Signed in."))
  }

  @Test(arguments: [
    (["--browser", "print"], "http://127.0.0.1:9"), (["--browser", "false"], "http://localhost:9"),
    (["--browser", "print", "--json"], "https://auth.example"), ([], "https://127.0.0.1.example"),
  ])
  func `login prints the time limit, and suggests --browser sandbox for a local server`(
    words: [String], server: String
  ) async throws {
    let outcome = try await run(
      [
        "login", "--authorize", server + "/authorize", "--token", server + "/token",
        "--client-id", "app", "--timeout", "5",
      ] + words)
    #expect(outcome.status == 3)
    #expect(
      outcome.errors.contains(
        "\nWaiting for you to sign in, 5 s at most (--timeout changes that). Ctrl-C cancels.\n"))
    #expect(
      outcome.errors.contains(
        "\nWithout a browser: if the server is a sandbox, --browser sandbox plays its user.\n")
        == server.hasPrefix("http:"))
  }

  /// A browser may seem to have opened, for example because of a shim of `xdg-open`, a remote
  /// display, or a browser in another session.
  @Test(arguments: [
    ["--browser", "true"], ["--browser", "true", "--json"], ["--sandbox", "--browser", "system"],
  ])
  func `login prints the address and the time limit even if the browser seems to have opened`(
    words: [String]
  ) async throws {
    let demo = try DemoProcess(
      ["login", "--timeout", "60"] + words, in: folder, environment: ["BROWSER": "no-such:true"])
    let address = try await eventually("an address is printed") {
      demo.errors.firstMatch(of: /\nIf it does not open: (http:\S+)\n/)?.1
    }
    #expect(
      demo.errors.contains("sign in there within 60 s (--timeout changes that). Ctrl-C cancels.\n"))
    #expect(demo.output.isEmpty)
    let visit = try await SandboxVisitor().visit(try #require(URL(string: String(address))))
    let last = try #require(visit.pages.last?.body)
    #expect(last.contains("<title>You are signed in · sq-demo</title>"))
    #expect(last.contains("go back to \u{2068}sq-demo\u{2069}."))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func `login with --browser sandbox does not ask a person to sign in`() async throws {
    let outcome = try await run(["login", "--browser", "sandbox"])
    #expect(outcome.status == 0 && !outcome.errors.contains("Waiting"), "\(outcome.errors)")
  }

  @Test(arguments: [
    (["--client-id", "nobody"], "\"This app is not known here\""),
    (
      ["--client-id", SandboxClient.app.id, "--redirect-uri", "com.example.other:/x"],
      "\"This link leads to the wrong place\""
    ),
  ])
  func `login prints the heading of the sandbox's error page if there is no redirect`(
    words: [String], reason: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let outcome = try await run(
      ["login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString] + words)
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains(
        "\nerror: sign_in_refused: the sign-in ended on the page \(reason)"),
      "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test(arguments: ["--browser=sandbox", "--sandbox"])
  func `login prints the heading of the built-in sandbox's error page`(option: String)
    async throws
  {
    let outcome = try await run(["login", "--client-id", "nobody", option])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\"This app is not known here\""))
  }

  @Test func `login opens the browser of the BROWSER variable`() async throws {
    let seen = folder.file("seen")
    try folder.write(
      "trap '' INT; printf '%s ' \"$@\" >\(seen); echo end >>\(seen)", to: "browser")
    let outcome = try await interrupted(
      nowhere, ["BROWSER": "sh \(folder.file("browser")) %s:other"])
    #expect(outcome.status == 3)
    #expect(folder.read("seen").hasPrefix("http://127.0.0.1:9/authorize?response_type=code&"))
  }

  /// If the parent process made the program ignore SIGCHLD, the browser's exit status is unknown.
  @Test func `login waits for the redirect if the browser's exit status is unknown`() async throws {
    let outcome = try await DemoProcess.run(
      nowhere + ["--timeout", "1", "--browser", "sh -c 'exit 7'"], in: folder,
      starter: ["env", "--ignore-signal=CHLD"])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("\nerror: timed_out: "))
  }

  @Test func `login passes the address to the browser command as its last argument`() async throws {
    let seen = folder.file("seen")
    let script = "trap \"\" INT; printf \"%s \" \"$@\" >\(seen); echo end >>\(seen)"
    let outcome = try await interrupted(nowhere + ["--browser", "sh -c '\(script)' sh 'a b'"])
    #expect(outcome.status == 3)
    #expect(folder.read("seen").hasPrefix("a b http://127.0.0.1:9/authorize?response_type=code&"))
  }

  @Test func `login with --browser print prints the address on standard output`() async throws {
    let demo = try DemoProcess(nowhere + ["--browser", "print"], in: folder)
    try await eventually("a line is printed") { demo.output.hasSuffix("\n") }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3)
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("http://127.0.0.1:9/authorize?"))
  }

  @Test func `login prints the address on standard error with --browser print and JSON`()
    async throws
  {
    let demo = try DemoProcess(nowhere + ["--browser", "print", "--json"], in: folder)
    try await eventually("the address is printed") { demo.errors.contains(#/\nhttp:.+\n/#) }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nhttp://127.0.0.1:9/authorize?"))
  }

  /// The tokens expire at once, so the timer refreshes them as soon as the sign-in is done.
  @Test func `login stores the latest refresh token if a refresh follows the sign-in at once`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .token, .expiresIn(0))
    sandbox.misbehave(at: .token, .drip(1, every: .milliseconds(5)))
    let store = DemoStore.file
    let outcome = try await DemoProcess.run(
      [
        "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
        "--client-id", "sandbox-app",
      ] + store.options(folder), in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let kept = try await store.open(store.path(folder)).load("default")
    #expect(kept?.token.refreshToken == sandbox.latestRefreshToken)
    await sandbox.stop()
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `login is cancelled by a signal`(signal: Int32) async throws {
    let demo = try DemoProcess(nowhere + ["--browser", "print"], in: folder)
    try await eventually("an address is printed") { demo.output.hasSuffix("\n") }
    demo.send(signal)
    let outcome = await demo.outcome()
    #expect(outcome.status == 3 && !outcome.isKilled)
    #expect(outcome.errors.contains("\nerror: cancelled: "))
  }

  @Test(arguments: [
    ["login", "--foo"], ["login", "--json", "--json"], ["login", "--scope"],
    ["login", "--issuer", "x.example"], ["login", "--issuer", "http://x.example"],
    ["login", "--issuer", "http://x.example", "--client-id", "x"],
    ["login", "--redirect-uri", "http://x.example/"], ["login", "--client-secret", "hunter2"],
    ["login", "--browser", "'"], ["login", "--store", "cloud"], ["nothing"], ["--nothing"],
    ["sandbox", "--port", "70000"], ["sandbox", "--lifetime", "0"], ["token", "--jsn"],
    ["logout", "--issuer", "https://x.example"],
  ])
  func `login rejects wrong usage with status 2, and so do other commands`(arguments: [String])
    async throws
  {
    let outcome = try await run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.wholeMatch(of: #/error: [a-z_]+: .+/#) != nil)
    #expect(outcome.errors.contains("\nRun 'sq-demo "))
    #expect(!outcome.errors.contains("hunter2"))
  }
}

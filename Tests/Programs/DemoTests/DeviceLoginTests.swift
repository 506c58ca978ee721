import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `A login on another device` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func login(_ sandbox: SandboxServer, _ more: [String] = ["--device"]) -> [String] {
    [
      "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "sandbox-app", "--store",
      "file:" + folder.file("tokens"),
    ] + more
  }

  private func sandbox(_ change: (inout SandboxOptions) -> Void = { _ in }) async throws
    -> SandboxServer
  {
    var options = SandboxOptions()
    options.deviceInterval = .seconds(1)
    change(&options)
    return try await SandboxServer.start(options)
  }

  /// Returns the user code in the program's output, or `nil` if there is none yet.
  private func code(in text: String) -> String? {
    text.firstMatch(of: /[B-Z]{4}-[B-Z]{4}/).map { String($0.output) }
  }

  @Test func `a login on another device shows the address and the code, and stores the account`()
    async throws
  {
    let sandbox = try await sandbox()
    let demo = try DemoProcess(login(sandbox), in: folder)
    let code = try await eventually { self.code(in: demo.output) }
    #expect(demo.output.hasPrefix("  \(sandbox.url(.device).absoluteString)\n  \(code)\n"))
    #expect(!folder.exists("tokens"))
    try await SandboxVisitor().enterCode(code, at: sandbox.url(.device))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("\nSigned in.\n"))
    // On a slow machine some of the ten minutes have passed.
    #expect(outcome.errors.contains(/Waiting for you, (10:00|9:\d\d)\. Ctrl-C cancels\.\n/))
    #expect(folder.read("tokens").contains("access-"))
    #expect(!(outcome.output + outcome.errors).contains("device-"), "the device code is a secret")
  }

  @Test
  func `a login on another device is chosen only without a browser and with the server's support`()
    async throws
  {
    let sandbox = try await sandbox()
    let device = try DemoProcess(login(sandbox, []), in: folder)
    let shown = try await eventually { self.code(in: device.output) }
    try await SandboxVisitor(decision: .deny).enterCode(shown, at: sandbox.url(.device))
    #expect(await device.outcome().status == 3)
    #expect(!device.errors.contains("warning: "), "no browser was named")
    // `true` is a browser that opens nothing.
    let browser = try DemoProcess(
      login(sandbox, ["--timeout", "5"]), in: folder, environment: ["BROWSER": "true"])
    #expect(await browser.outcome().status == 3)
    #expect(code(in: browser.output) == nil && browser.errors.contains("Your browser opens"))
    sandbox.misbehave(at: .metadata, .member("device_authorization_endpoint", nil), times: nil)
    let printed = try DemoProcess(login(sandbox, ["--timeout", "5"]), in: folder)
    #expect(await printed.outcome().status == 3)
    #expect(printed.errors.contains("no browser was opened"))
    let asked = try DemoProcess(login(sandbox), in: folder)
    let outcome = await asked.outcome()
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: device_authorization_unsupported"))
  }

  @Test(arguments: [
    ("no-such-browser", "there is no such program"), ("/no/such", "there is no such program"),
    ("/", "/ is a folder"), ("/etc/passwd", "/etc/passwd is not executable"),
    ("no-such:/", "there is no such program, and"), ("w3m", "needs a terminal"),
  ])
  func `a login on another device says why it replaces the named browser`(
    browser: String, reason: String
  ) async throws {
    let sandbox = try await sandbox()
    let demo = try DemoProcess(login(sandbox, []), in: folder, environment: ["BROWSER": browser])
    let code = try await eventually { self.code(in: demo.output) }
    let warning = "warning: no browser of this machine is used (BROWSER): the "
    #expect(demo.errors.contains(warning) && demo.errors.contains(reason), "\(demo.errors)")
    try await SandboxVisitor(decision: .deny).enterCode(code, at: sandbox.url(.device))
    #expect(await demo.outcome().status == 3)
  }

  @Test(arguments: ["unauthorized_client", "unsupported_grant_type"])
  func `a printed address replaces a login on another device if the server rejects the client`(
    error: String
  )
    async throws
  {
    let sandbox = try await sandbox()
    sandbox.misbehave(at: .deviceAuthorization, .error(error), times: nil)
    let demo = try DemoProcess(login(sandbox, []), in: folder)
    try await eventually("an address is printed") { demo.output.hasSuffix("\n") }
    #expect(demo.errors.contains("does not let this client sign in on another device"))
    let address = try #require(URL(string: String(demo.output.dropLast())))
    _ = try await SandboxVisitor().visit(address)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    // A user who asks for a device login gets the server's error.
    let asked = try await DemoProcess.run(login(sandbox), in: folder)
    #expect(asked.status == 1 && asked.errors.contains("error: \(error)"))
  }

  @Test(arguments: [["--device", "--sandbox"], ["--device", "--browser", "sandbox"]])
  func `a login on another device can be completed by the sandbox's simulated user`(
    options: [String]
  ) async throws {
    let outcome = try await DemoProcess.run(["login"] + options, in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("The sandbox's simulated user enters the code"))
    #expect(outcome.output.hasPrefix("Hello, Alice Liddell."))
  }

  @Test func `a login on another device ends when the code expires`() async throws {
    let sandbox = try await sandbox { $0.deviceCodeLifetime = .seconds(1) }
    let outcome = try await DemoProcess.run(login(sandbox), in: folder)
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("error: expired_token"))
  }

  @Test func `a login on another device ends after the time of --timeout`() async throws {
    let sandbox = try await sandbox()
    let outcome = try await DemoProcess.run(
      login(sandbox, ["--device", "--timeout", "2"]), in: folder)
    #expect(outcome.status == 3)
    // On a slow machine some of the two seconds have passed.
    #expect(outcome.errors.contains(/Waiting for you, 0:0[0-2]\./), "\(outcome.errors)")
    #expect(outcome.errors.contains("error: timed_out: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("within 2 s (--timeout changes that)"))
    #expect(!folder.exists("tokens"))
  }

  @Test func `a login on another device rejects the option --browser`() async throws {
    let sandbox = try await sandbox()
    let outcome = try await DemoProcess.run(
      login(sandbox, ["--device", "--browser", "print"]), in: folder)
    #expect(outcome.status == 2 && outcome.errors.contains("leave --browser out"))
  }

  @Test(.requires(.qrencode))
  func `a login on another device draws a QR code and counts the time down on a terminal`()
    async throws
  {
    let sandbox = try await sandbox()
    let terminal = try PseudoTerminal(columns: 80, rows: 50)
    let demo = try DemoProcess(
      login(sandbox), in: folder, input: terminal.handle, output: terminal.handle)
    try await eventually("the time left is shown") {
      Set(terminal.everything.matches(of: /(10:00|9:\d\d) left/).map(\.output.1)).count > 1
    }
    let code = try #require(self.code(in: terminal.everything))
    let address = "\(sandbox.url(.device).absoluteString)?user_code=\(code)"
    let drawing = try await ChildProcess(
      ["qrencode", "-t", "ANSIUTF8", "-m", "2"], input: .text(address)
    ).result().output
    let shown = terminal.everything.replacing("\r\n", with: "\n")
    #expect(!drawing.isEmpty && shown.contains(drawing))
    demo.send(SIGINT)
    #expect(await demo.outcome().status == 3)
  }

  @Test func `a login on another device runs qrencode without inherited files or sockets`()
    async throws
  {
    let sandbox = try await sandbox()
    let terminal = try PseudoTerminal(columns: 80, rows: 50)
    try FileManager.default.createDirectory(
      atPath: folder.file("bin"), withIntermediateDirectories: false)
    try folder.write(
      """
      #!/bin/sh
      echo begin
      /bin/ls /proc/self/fd >\(folder.file("seen"))
      echo end >>\(folder.file("seen"))

      """,
      to: "bin/qrencode")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: folder.file("bin/qrencode"))
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let demo = try DemoProcess(
      login(sandbox), in: folder, environment: ["PATH": "\(folder.file("bin")):\(path)"],
      input: terminal.handle, output: terminal.handle)
    try await eventually("qrencode has run") { folder.read("seen").hasSuffix("end\n") }
    // Descriptor 3 is the folder that `ls` reads.
    #expect(folder.read("seen") == "0\n1\n2\n3\nend\n")
    demo.send(SIGINT)
    #expect(await demo.outcome().status == 3)
    await sandbox.stop()
  }

  @Test(.requires(.qrencode))
  func `a login on another device draws no QR code on a narrow terminal`() async throws {
    let sandbox = try await sandbox()
    let terminal = try PseudoTerminal(columns: 30, rows: 50)
    let demo = try DemoProcess(
      login(sandbox), in: folder, input: terminal.handle, output: terminal.handle)
    try await eventually("the time left is shown") { terminal.everything.contains(" left") }
    #expect(!terminal.everything.contains("▀"))
    demo.send(SIGINT)
    #expect(await demo.outcome().status == 3)
  }
}

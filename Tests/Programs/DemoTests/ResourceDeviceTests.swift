import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// Calls that get only a resource's address, and sign in with a code on another device.
@Suite(.timeLimit(.minutes(1))) struct `A call with a code` {
  private let folder: TemporaryFolder
  private let storeOption: [String]

  init() throws {
    folder = try TemporaryFolder()
    storeOption = ["--store", "file:" + folder.file("tokens")]
  }

  private func sandbox() async throws -> SandboxServer {
    var options = SandboxOptions()
    options.deviceInterval = .seconds(1)
    return try await SandboxServer.start(options)
  }

  @Test func `a call with --device signs in with a code that the user enters on another device`()
    async throws
  {
    let sandbox = try await sandbox()
    let demo = try DemoProcess(
      ["call", sandbox.url(.me).absoluteString, "--device"] + storeOption, in: folder)
    let code = try await eventually {
      demo.errors.firstMatch(of: /[B-Z]{4}-[B-Z]{4}/).map { String($0.output) }
    }
    try await SandboxVisitor().enterCode(code, at: sandbox.url(.device))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix(#"{"user_name":"alice","#))
    let begun = try #require(sandbox.requests(to: .deviceAuthorization).first)
    #expect(begun.form("resource") == sandbox.issuer.absoluteString)
    await sandbox.stop()
  }

  @Test func `on a terminal without a browser, a call shows a user code without --device`()
    async throws
  {
    let sandbox = try await sandbox()
    let terminal = try PseudoTerminal(columns: 80, rows: 50)
    let demo = try DemoProcess(
      ["call", sandbox.url(.me).absoluteString] + storeOption, in: folder, errors: terminal.handle)
    let code = try await eventually {
      terminal.everything.firstMatch(of: /[B-Z]{4}-[B-Z]{4}/).map { String($0.output) }
    }
    try await SandboxVisitor().enterCode(code, at: sandbox.url(.device))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && outcome.output.hasPrefix(#"{"user_name":"alice","#))
    await sandbox.stop()
  }

  @Test func `the time left fits on one line of a narrow terminal`() async throws {
    let sandbox = try await sandbox()
    let terminal = try PseudoTerminal(columns: 20, rows: 50)
    let demo = try DemoProcess(
      ["call", sandbox.url(.me).absoluteString] + storeOption, in: folder, errors: terminal.handle)
    let line = try await eventually {
      terminal.everything.firstMatch(of: /\r([^\r\n]*left[^\r\n]*)\u{1B}\[K/).map {
        String($0.output.1)
      }
    }
    #expect(line.count < 20, "\(line)")
    demo.send(SIGINT)
    #expect(await demo.outcome().status == 3)
    await sandbox.stop()
  }

  @Test
  func `if the server refuses device codes, a call prints an address, unless --device is given`()
    async throws
  {
    let sandbox = try await sandbox()
    sandbox.misbehave(at: .deviceAuthorization, .error("unauthorized_client"), times: nil)
    let url = sandbox.url(.me).absoluteString
    let asked = try await DemoProcess.run(["call", url, "--device"] + storeOption, in: folder)
    #expect(asked.status == 1 && asked.errors.contains("error: unauthorized_client: "))
    let terminal = try PseudoTerminal(columns: 2000, rows: 50)
    let demo = try DemoProcess(["call", url] + storeOption, in: folder, errors: terminal.handle)
    let address = try await eventually {
      (terminal.everything + demo.output)
        .firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+\/authorize\S+)\s/).map { String($0.output.1) }
    }
    #expect(terminal.everything.contains("does not let this client sign in on another device"))
    _ = try await SandboxVisitor().visit(try #require(URL(string: address)))
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && outcome.output.contains(#"{"user_name":"alice","#))
    await sandbox.stop()
  }

  @Test func `a call fails after the time of --timeout if nobody enters the code`() async throws {
    let sandbox = try await sandbox()
    let outcome = try await DemoProcess.run(
      ["call", sandbox.url(.me).absoluteString, "--device", "--timeout", "2"] + storeOption,
      in: folder)
    #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome.errors)")
    // On a slow machine some of the two seconds have passed.
    #expect(outcome.errors.contains(/Waiting for you, 0:0[0-2]\./), "\(outcome.errors)")
    #expect(outcome.errors.contains("error: timed_out: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("within 2 s (--timeout changes that)"))
    #expect(!folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test
  func `with --browser sandbox, the code is entered automatically, and an error ends the call`()
    async throws
  {
    let sandbox = try await sandbox()
    let words = ["call", sandbox.url(.me).absoluteString, "--device", "--browser", "sandbox"]
    sandbox.misbehave(at: .device, .error("server_error"))
    let failed = try await DemoProcess.run(words + storeOption, in: folder)
    #expect(failed.status == 1 && failed.output.isEmpty, "\(failed.errors)")
    #expect(failed.errors.contains("\nerror: sign_in_refused: "), "\(failed.errors)")
    let outcome = try await DemoProcess.run(words + storeOption, in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("The sandbox's simulated user enters the code"))
    await sandbox.stop()
  }
}

import Foundation
import OAuthSandbox
import TestSupport
import Testing

/// Follows the tutorial: its programs are built and run, and say what it says that they say.
@Suite(.timeLimit(.minutes(5))) struct TutorialTests {
  @Test func `a reader who follows the tutorial gets its programs to work`() async throws {
    let steps = try Sample.all().filter {
      $0.document.hasSuffix("/GettingStarted.md") && $0.kind == .program
    }
    try #require(steps.count == 3)
    let reader = try await Reader()
    #expect(try await reader.build(steps[0]).signingIn() == "Signed in, for: profile\n")
    #expect(try await reader.build(steps[1]).signingIn() == "Hello, Alice Liddell.\n")

    let greeter = try await reader.build(steps[2])
    #expect(try await greeter.signingIn() == "Hello, Alice Liddell.\n")
    #expect(try await greeter.signedIn() == "Hello, Alice Liddell.\n")
    #expect(try await greeter.signedIn("goodbye") == "Goodbye.\n")
    #expect(try await greeter.signingIn() == "Hello, Alice Liddell.\n")

    // As after a new start of the sandbox: one run fails, and the next one signs in.
    reader.sandbox.revokeEverything()
    #expect(try await greeter.signedIn().contains(": invalid_grant: "))
    #expect(try await greeter.signingIn() == "Hello, Alice Liddell.\n")
  }
}

/// Somebody with a sandbox and a place to try programs in.
private struct Reader {
  let sandbox: SandboxServer
  let folder: TemporaryFolder
  let compiler: Compiler

  init() async throws {
    sandbox = try await SandboxServer.start()
    folder = try TemporaryFolder()
    compiler = try await Compiler()
  }

  /// Builds a step's program, for this sandbox.
  func build(_ step: Sample) async throws -> Greeter {
    let code = step.code.replacing("http://127.0.0.1:8989", with: sandbox.issuer.absoluteString)
    let path = try await compiler.build(code, named: "greeter\(step.line)")
    return Greeter(path: path, home: folder.path, sandbox: sandbox)
  }
}

private struct Greeter {
  let path: String
  let home: String
  let sandbox: SandboxServer

  /// What it prints when its user signs in, at the address that `BROWSER=echo` shows.
  func signingIn() async throws -> String {
    let program = try start(browser: "echo")
    let address = try await eventually("the address is shown") {
      // The last line may not have come to its end.
      program.errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .first { $0.hasPrefix(sandbox.issuer.absoluteString) }
    }
    _ = try await SandboxVisitor().visit(try #require(URL(string: String(address))))
    return try await program.result().output
  }

  /// What it prints when no browser can be opened.
  func signedIn(_ arguments: String...) async throws -> String {
    try await start(browser: "false", arguments).result().output
  }

  private func start(browser: String, _ arguments: [String] = []) throws -> ChildProcess {
    try ChildProcess(
      [path] + arguments, environment: ["BROWSER": browser, "XDG_STATE_HOME": home])
  }
}

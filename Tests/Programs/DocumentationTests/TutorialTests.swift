import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// Follows the tutorial: builds and runs its package, and checks the output.
@Suite(
  .timeLimit(.minutes(30)),
  .disabled(if: isSanitized, "the built programs are the same without a sanitizer"))
struct TutorialTests {
  @Test func `the tutorial's programs print the described output`() async throws {
    let samples = try Sample.all().filter { $0.document.hasSuffix("/GettingStarted.md") }
    let steps = samples.filter { $0.kind == .program }
    try #require(steps.count == 3)
    let described = try Described()
    let manifest = try #require(samples.first { $0.kind == .manifest })
    let reader = try await Reader(manifest: manifest)
    let first = try await reader.build(steps[0])
    #expect(try await first.signingIn() == described.signIn)
    let second = try await reader.build(steps[1])
    #expect(try await second.signingIn() == described.greeting)
    // The program needs only the system libraries of the SDK modules that it imports.
    let needed = try await second.libraries()
    #expect(needed.contains { $0.hasPrefix("libcurl.so.") }, "\(needed)")
    for other in UnusedLibraries.names + ["libsecret-1", "libglib-2.0", "libFoundation"] {
      #expect(!needed.contains { $0.hasPrefix("\(other).so") }, "\(needed)")
    }

    let greeter = try await reader.build(steps[2])
    #expect(try await greeter.signingIn() == described.greeting)
    #expect(try await greeter.signedIn() == described.greeting)
    #expect(try await greeter.signedIn("goodbye") == described.goodbye)
    #expect(try await greeter.signingIn() == described.greeting)

    // The state is as after a restart of the sandbox: one run fails, and the next run signs in.
    reader.sandbox.revokeEverything()
    #expect(try await greeter.signedIn().contains(": \(described.errorCode): "))
    #expect(try await greeter.signingIn() == described.greeting)
  }

  @Test(arguments: UnusedLibraries.modules)
  func `in the tutorial's build, a header of an unused library causes a compiler error`(
    module: String
  ) async throws {
    let result = try await UnusedLibraries.compile(module)
    #expect(result.status != 0 && result.errors.contains(UnusedLibraries.complaint))
  }
}

/// The outputs that the tutorial describes.
private struct Described {
  /// The output of the program that signs in.
  let signIn: String
  /// The output of the programs that call an API.
  let greeting: String
  /// The output of the program that ends the session; the tutorial shows it only in the code.
  let goodbye: String
  /// The code of the error after a restart of the sandbox.
  let errorCode: String

  init() throws {
    let article = try String(
      contentsOf: PackageSources.root.appending(
        path: "Sources/SequencingOAuth/SequencingOAuth.docc/GettingStarted.md"), encoding: .utf8)
    let lines = article.matches(of: /prints `([^`]+)`/).map { "\($0.output.1)\n" }
    try #require(lines.count == 2, "\(lines)")
    (signIn, greeting) = (lines[0], lines[1])
    let farewell = try #require(
      article.firstMatch(of: /account\.revoke\(\)\n *print\("([^"]+)"\)/))
    goodbye = "\(farewell.output.1)\n"
    errorCode = String(
      try #require(article.firstMatch(of: /next run fails with `(\w+)`/)).output.1)
  }
}

/// A reader with their own sandbox and package beside the SDK's folder.
private struct Reader {
  let sandbox: SandboxServer
  let folder: TemporaryFolder
  let project: ReaderPackage

  init(manifest: Sample) async throws {
    sandbox = try await SandboxServer.start()
    folder = try TemporaryFolder()
    project = try ReaderPackage(manifest: manifest.code)
  }

  /// Builds a step's program for this sandbox, in place of the earlier program.
  func build(_ step: Sample) async throws -> Greeter {
    let code = step.code.replacing("http://127.0.0.1:8989", with: sandbox.issuer.absoluteString)
    return Greeter(path: try await project.build(code), home: folder.path, sandbox: sandbox)
  }
}

private struct Greeter {
  let path: String
  let home: String
  let sandbox: SandboxServer

  /// Returns the output when the user signs in at the address that `BROWSER=echo` prints.
  func signingIn() async throws -> String {
    let program = try start(browser: "echo")
    try await program.signIn(at: sandbox)
    return try await program.result().output
  }

  /// Returns the output when no browser can be opened.
  func signedIn(_ arguments: String...) async throws -> String {
    try await start(browser: "false", arguments).result().output
  }

  /// Returns the shared libraries that the program needs.
  func libraries() async throws -> [String] {
    let result = try await ChildProcess.run(["readelf", "--dynamic", "--wide", path])
    return result.output.matches(of: /\(NEEDED\).*\[(.*)\]/).map { String($0.1) }
  }

  private func start(browser: String, _ arguments: [String] = []) throws -> ChildProcess {
    try ChildProcess(
      [path] + arguments, environment: ["BROWSER": browser, "XDG_STATE_HOME": home])
  }
}

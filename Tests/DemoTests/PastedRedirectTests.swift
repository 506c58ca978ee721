import Foundation
import OAuthSandbox
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A redirect that reaches no program` {
  private let folder: TemporaryFolder
  /// The program's standard input, and the end of its pipe to which the test writes.
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
  func `is pasted, and a weak scheme is told once`(uri: String, isWeak: Bool) async throws {
    let sandbox = try await sandbox(uri)
    let demo = try start(at: sandbox, uri)
    try await eventually("it asks") { demo.errors.contains("It starts with \(uri). ") }
    let url = try #require(URL(string: String(demo.output.dropLast())))
    let redirect = try await SandboxVisitor().visit(url).redirect
    try write("")
    try write("nonsense")
    try write(uri + "?code=forged&state=guessed")
    try await eventually("both are refused") {
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

  @Test func `is passed on by the sandbox's visitor`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let outcome = await (try start(at: sandbox, uri, ["--browser", "sandbox"])).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.errors.contains("paste"))
    await sandbox.stop()
  }

  @Test func `cannot be pasted where there is no input`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    try keyboard.close()
    let outcome = await (try start(at: sandbox, uri)).outcome()
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("\nerror: cancelled: standard input ended"))
    await sandbox.stop()
  }

  @Test func `of the built-in sandbox works too`() async throws {
    let outcome = try await DemoProcess.run(
      ["token", "--sandbox", "--redirect-uri", "authapp://Default/Authcallback"],
      in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 1)
    #expect(outcome.errors.contains("\nwarning: "))
  }

  @Test func `may be asked for while a browser command runs`() async throws {
    let uri = "com.example.app:/callback"
    let sandbox = try await sandbox(uri)
    let (seen, end) = (folder.file("url"), folder.file("end"))
    let script = "sh -c 'echo \"$0\" >\(seen); until [ -e \(end) ]; do sleep 0.01; done'"
    let demo = try start(at: sandbox, uri, ["--browser", script])
    try await eventually("it asks") { demo.errors.contains("It starts with") }
    let url = try await eventually("the command runs") {
      let text = folder.read("url")
      return text.hasSuffix("\n") ? URL(string: String(text.dropLast())) : nil
    }
    try write(try await SandboxVisitor().visit(url).redirect)
    try await eventually("it is signed in") { demo.output.contains("Signed in.") }
    #expect(await demo.outcome().status == 0)
    try folder.write("", to: "end")
    await sandbox.stop()
  }
}

import Foundation
import ProgramSupport
import TestSupport
import Testing

/// An app under ThreadSanitizer.
///
/// Only the test run under ThreadSanitizer builds the libraries that the app needs.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: sanitizer == "thread", "the libraries are built for ThreadSanitizer in its own run"))
struct ThreadSanitizerTests {
  @Test func `an app that uses the SDK from many threads has no data race`() async throws {
    let builder = try ProgramBuilder()
    let program = try await builder.build(
      "threads", ["main.swift": Self.code], ["-swift-version", "6"])
    // Reports go to standard error, not to the report files of this test run.
    let result = try await ChildProcess.run(
      [program], environment: ["TSAN_OPTIONS": nil], within: .seconds(120))
    #expect(!result.errors.contains("ThreadSanitizer"), "\(result.errors.prefix(4_000))")
    #expect(result.status == 0)
    #expect(result.output == "done\n")
  }

  /// Checks that a data race causes a report, so that the test above can find one.
  @Test func `ThreadSanitizer reports a data race of an app`() async throws {
    let folder = try TemporaryFolder()
    try Data(Self.race.utf8).write(to: URL(filePath: folder.file("main.swift")))
    let program = folder.file("race")
    let built = try await ChildProcess.run(
      ["swiftc", "-sanitize=thread", folder.file("main.swift"), "-o", program],
      within: .seconds(240))
    try #require(built.status == 0, "\(built.errors)")
    let result = try await ChildProcess.run(
      [program], environment: ["TSAN_OPTIONS": nil], within: .seconds(60))
    #expect(result.errors.contains("WARNING: ThreadSanitizer"))
  }

  private static let code = """
    import Dispatch
    import OAuthSandbox
    import SequencingOAuth

    let sandbox = try await SandboxServer.start()
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url in
      _ = try await SandboxVisitor().visit(url)
    }
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
        provider: .issuer(sandbox.issuer.absoluteString)),
      environment: environment)
    _ = try await account.signIn()

    let readers = DispatchGroup()
    for _ in 0..<4 {
      DispatchQueue.global().async(group: readers) {
        for _ in 0..<20_000 { _ = account.hasAccessToken }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<32 {
        group.addTask {
          for _ in 0..<10 {
            if number.isMultiple(of: 8) { _ = try await account.refresh() }
            _ = try await account.token()
            let answer = try await account.send(WebRequest(url: sandbox.url(.me)))
            precondition(answer.status == 200)
          }
        }
      }
      try await group.waitForAll()
    }
    await withCheckedContinuation { ended in
      readers.notify(queue: .global()) { @Sendable in ended.resume() }
    }
    await sandbox.stop()
    print("done")
    """

  private static let race = """
    import Glibc

    final class Count: @unchecked Sendable {
      var value = 0
    }
    let count = Count()

    func start() -> pthread_t {
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { @Sendable _ in
          count.value += 1
          return nil
        }, nil)
      return thread
    }
    for thread in [start(), start()] { pthread_join(thread, nil) }
    """
}

import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// `sq-demo watch` in its own process, signed in at glewlwyd.
struct WatchingDemo: Sendable {
  private let process: ChildProcess
  private let store: FileTokenStore
  private let folder: TemporaryFolder

  /// Starts the demo and signs alice in.
  init(at server: Glewlwyd) async throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    store = FileTokenStore(path: folder.file("tokens"))
    process = try ChildProcess(
      [
        BuiltProgram.path("sq-demo"), "watch",
        "--issuer", server.issuer, "--client-id", Glewlwyd.Client.public.rawValue,
        "--scope", "read write", "--redirect-uri", try server.takeRedirectURI(),
        "--store", "file:" + folder.file("tokens"),
        "--browser", #"sh -c 'echo "$0" >"$URL_FILE"'"#,
      ],
      environment: ["URL_FILE": folder.file("url")])
    let url = try await eventually("the demo opens the browser") { [process] in
      let text = try? String(contentsOfFile: folder.file("url"), encoding: .utf8)
      if text == nil, !process.isRunning { throw URLError(.unknown) }
      return text.flatMap { $0.hasSuffix("\n") ? URL(string: String($0.dropLast())) : nil }
    }
    try await server.visit(url, as: .alice, granting: ["read", "write"], to: .public)
  }

  /// The number of refreshes that the demo has printed.
  var refreshes: Int {
    process.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .count { $0.hasPrefix("refreshed ") }
  }

  /// The standard error so far.
  var errors: String { process.errors }

  /// Waits until the demo has printed `count` refreshes.
  func tells(_ count: Int) async throws {
    try await eventually("\(count) refreshes are printed", within: .seconds(280)) {
      guard refreshes < count else { return true }
      if !process.isRunning {
        Issue.record("the demo ended: \(process.errors)")
        throw CancellationError()
      }
      return false
    }
  }

  /// Suspends the demo while it has no request under way.
  ///
  /// It refreshes its token when less than an eighth of the lifetime is left.
  func freezeBetweenRefreshes(ofTokensFor life: TimeInterval) async throws {
    while true {
      try await tells(refreshes + 1)
      try await process.freeze()
      let end = try? await store.load("default")?.token.expirationDate
      if let end, end.timeIntervalSinceNow > life / 2 { return }
      thaw()
    }
  }

  /// Lets a suspended demo continue.
  func thaw() {
    process.signal(SIGCONT)
  }

  /// Interrupts the demo, and checks that it ends correctly.
  func interrupt() async throws {
    process.signal(SIGINT)
    let result = try await process.result()
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("refreshed ") })
  }

  /// Checks that the refresh token in the demo's store works after the demo's end.
  func newestRefreshTokenWorks(at server: Glewlwyd) async throws {
    var environment = ClientEnvironment()
    environment.tokenStore = store
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: Glewlwyd.Client.public.rawValue, redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(server.issuer)),
      environment: environment)
    #expect(try await module.restore())
    // On a slow machine a token of 5 s may expire before it is checked.
    try await eventually("a new token is good") {
      let token = try await module.refresh()
      return (try? await server.introspect(token.accessToken).active) == true
    }
  }
}

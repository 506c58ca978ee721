import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Option {
  static let rpc = Option(
    "--rpc", value: "URL", help: "A gRPC server that the main screen calls with the token.")
}

/// `tour`: the two screens of an app that signs its user in, on a server inside the program.
struct Tour: Command {
  static let name = "tour"
  static let summary = "See a whole sign-in: login screen, browser, main screen."
  static let details = """
    It starts a sandbox, an authorization server inside the program, and signs its user
    in there. Its tokens live for 30 seconds, so that you see one refreshed. The screens
    need a terminal; without one the tour goes by itself and prints lines.

    With --rpc the main screen calls a gRPC server with the token too, as 'sq-demo rpc'
    does.
    """
  static let options = [Option.browser, .rpc, .authorities]

  private let browser: BrowserOption?
  private let server: RPCServer?

  init(_ arguments: Arguments) throws(Failure) {
    browser = try arguments[.browser].map { text throws(Failure) in try BrowserOption(text) }
    if browser == .print {
      throw .usage("--browser print is for 'login'; the tour shows the address by itself")
    }
    let authorities = arguments[.authorities]
    server = try arguments[.rpc].map { url throws(Failure) in
      try RPCServer(url, authorities: authorities)
    }
    if server == nil, authorities != nil { throw .usage("--ca is for --rpc") }
  }

  func run(_ console: Console) async throws(Failure) {
    let userAgent = (browser ?? .system).userAgent(show: { _ in })
    // Short enough to see the bar run down and the token refreshed.
    try await EmbeddedSandbox.running(tokenLifetime: .seconds(30)) { sandbox throws(Failure) in
      let app = await TourApp(sandbox, browser: userAgent, server: server)
      try await run(app, sandbox.description, console)
    }
  }

  private func run(
    _ app: TourApp, _ server: SandboxDescription, _ console: Console
  ) async throws(Failure) {
    let environment = ProcessInfo.processInfo.environment
    guard RawTerminal.isAvailable(environment: environment) else {
      // Nobody can press a key, so nobody would see a browser either, unless it was asked for.
      let player: Coordinator.Player = (browser ?? .sandbox) == .sandbox ? .visitor : .browser
      return try await TourInLines(
        app: app, server: server, player: player, hasServerToCall: self.server != nil
      ).run(console)
    }
    let appearance = Appearance(environment: environment)
    await TourOnScreen(
      app: app, server: server, appearance: appearance, hasServerToCall: self.server != nil
    ).run()
  }
}

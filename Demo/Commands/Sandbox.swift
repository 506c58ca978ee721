import OAuthSandbox

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Option {
  static let port = Option(
    "--port", value: "N", help: "The port on 127.0.0.1; any free one by default.")
  static let describeAsJSON = Option(
    "--json", help: "Describe it in one JSON object on one line.")
}

/// `sandbox`: runs an authorization server by itself.
struct Sandbox: Command {
  static let name = "sandbox"
  static let summary = "Run an authorization server to play with, until interrupted."
  static let details = """
    It listens on this machine only, keeps everything in memory, and ends with Ctrl-C.

    With --json: issuer, authorization_endpoint, token_endpoint, revocation_endpoint, clients \
    (client_id, client_secret) and users (user_name, password).
    """
  static let options: [Option] = [.port, .describeAsJSON]

  private let port: UInt16
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    printsJSON = arguments.contains(.describeAsJSON)
    guard let text = arguments[.port] else {
      port = 0
      return
    }
    guard let port = UInt16(text) else { throw .usage("--port takes a number from 0 to 65535") }
    self.port = port
  }

  func run(_ console: Console) async throws(Failure) {
    // Before anyone can know that it runs, so that a signal always ends it in order.
    let (interrupted, interruption) = AsyncStream.makeStream(of: Never.self)
    let interrupts = Interrupts { interruption.finish() }
    defer { interrupts.stop() }

    var options = SandboxOptions()
    options.port = port
    let server = try await EmbeddedSandbox.start(options)
    let report = SandboxReport(server)
    try console.result(printsJSON ? try report.json() : report.text)
    for await _ in interrupted {}
    await server.stop()
  }
}

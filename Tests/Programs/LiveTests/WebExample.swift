import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import TestSupport

/// The web application of `Demo/Examples/Web` with its port, its folder and its server.
struct WebExample: Sendable {
  let sandbox: SandboxServer
  let address: String
  private let program: String
  /// The builder of the program; the program's file exists only as long as the builder.
  private let builder: ProgramBuilder
  private let port: BoundSocket
  private let home: TemporaryFolder

  init() async throws {
    builder = try ProgramBuilder(with: [.sqlite])
    port = try BoundSocket(isShared: true)
    home = try TemporaryFolder()
    address = "http://127.0.0.1:\(port.port)"
    var client = SandboxClient.service
    client.backchannelLogoutURI = "\(address)/logged-out"
    var options = SandboxOptions()
    options.clients = [client]
    sandbox = try await SandboxServer.start(options)
    program = try await builder.build("web", Self.files(), ["-swift-version", "6"])
  }

  private static func files() throws -> [String: String] {
    let folder = PackageSources.root.appending(path: "Demo/Examples/Web")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
      })
  }

  /// Starts another process of the application, and waits until it listens.
  func start() async throws -> ChildProcess {
    let process = try ChildProcess(
      [program],
      environment: [
        "ISSUER": sandbox.issuer.absoluteString, "CLIENT_ID": nil, "ADDRESS": nil,
        "CLIENT_SECRET": SandboxClient.service.secret, "PORT": "\(port.port)",
        "XDG_STATE_HOME": home.path,
      ])
    _ = try await process.line(after: "Serving \(address)")
    return process
  }
}

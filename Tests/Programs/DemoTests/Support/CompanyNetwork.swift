import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// A company's network: a sandbox that only a proxy reaches, by https and under a name that no
/// resolver knows.
///
/// The browser's part of a sign-in stays on this machine, as a company's own login page might.
struct CompanyNetwork {
  static let api = "https://other.example/api/me"

  let folder: TemporaryFolder
  let certificates: Certificates
  let sandbox: SandboxServer
  let front: SecureFront
  let proxy: ForwardProxy

  init(
    credentials: String? = nil, secureProxy: Bool = false, opensConnections: Bool = false,
    demandsCertificate: Bool = false
  ) async throws {
    folder = try TemporaryFolder()
    certificates = try await Certificates()
    sandbox = try await SandboxServer.start()
    front = try SecureFront(
      before: sandbox, certificates, demandsCertificate: demandsCertificate)
    let host: ForwardProxy.Host =
      opensConnections ? .inspected(at: front.port) : .at(front.port)
    proxy = try ForwardProxy(
      to: ["other.example": host], certificates, credentials: credentials, isSecure: secureProxy)
  }

  var authority: [String] { ["--cacert", certificates.path("ca.pem")] }
  var store: [String] { ["--store", "file:" + folder.file("tokens")] }

  func run(
    _ words: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + store, in: folder, environment: environment)
  }

  /// Signs the sandbox's user in, with the token endpoint behind the proxy.
  func login(
    _ words: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await run(
      [
        "login", "--browser", "sandbox", "--authorize",
        sandbox.authorizationEndpoint.absoluteString, "--token", "https://other.example/token",
        "--revocation", "https://other.example/revoke", "--client-id", SandboxClient.app.id,
        "--scope", "profile demo",
      ] + words, environment)
  }

  /// Makes the token of the account expire, so that the next command refreshes it.
  func expireToken() async throws {
    try await FileTokenStore(path: folder.file("tokens")).expire("default")
  }
}

import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// The errors about silent servers, untrusted certificates and unusable proxies.
@Suite(
  .timeLimit(.minutes(2)), .requires(ProgramRequirement(programs: ["nginx", "openssl", "sh"])))
struct NetworkFailureTests {
  private let folder: TemporaryFolder
  private let certificates: Certificates

  init() async throws {
    folder = try TemporaryFolder()
    certificates = try await Certificates()
  }

  private func token(
    at url: String, _ words: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    let server = ["--issuer", url, "--client-id", "app", "--browser", "print"]
    return try await DemoProcess.run(
      ["token", "--store", "memory"] + server + words, in: folder, environment: environment)
  }

  /// Runs `body` with the https address of a sandbox on this machine.
  private func withServer(
    _ certificate: String = "server", _ body: (String) async throws -> Void
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let front = try SecureFront(before: sandbox, certificates, certificate: certificate)
    try await body("https://127.0.0.1:\(front.port)")
    withExtendedLifetime(front) {}
    await sandbox.stop()
  }

  @Test func `a sign-in at a silent server fails after its time limit, with one request`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .metadata, .delay(.seconds(120)), times: .max)
    let login = try await DemoProcess.run(
      [
        "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", "sandbox-app",
        "--browser", "print", "--timeout", "5",
      ], in: folder)
    #expect(login.errors.contains("request_timed_out"), "\(login.errors)")
    #expect(sandbox.requests(to: .metadata).count == 1)
    await sandbox.stop()
  }

  @Test func `if no given authority signed the server's certificate, the error suggests --cacert`()
    async throws
  {
    try await withServer { url in
      for words in [[], ["--cacert", certificates.path("other.pem")]] {
        let outcome = try await token(at: url, words)
        #expect(outcome.status == 1)
        #expect(
          outcome.errors.contains("error: tls_failed: no trusted TLS connection to 127.0.0.1"),
          "\(outcome.errors)")
        #expect(outcome.errors.contains("\nIn sq-demo, name a file with the authority of the"))
        #expect(outcome.errors.contains("--cacert FILE.\n"))
      }
    }
  }

  @Test func `the error of an expired certificate suggests a check of the clock and no option`()
    async throws
  {
    try await withServer("expired") { url in
      let outcome = try await token(at: url, ["--cacert", certificates.path("ca.pem")])
      #expect(outcome.errors.contains("error: tls_failed: "), "\(outcome.errors)")
      #expect(outcome.errors.contains("has expired; check the clock of this machine"))
      #expect(!outcome.errors.contains("In sq-demo"))
    }
  }

  @Test(arguments: ["/no/such", "/tmp", "/dev/null"])
  func `if SSL_CERT_FILE names an unusable file, the error names the variable`(path: String)
    async throws
  {
    try await withServer { url in
      let outcome = try await token(at: url, [], ["SSL_CERT_FILE": path])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("error: tls_failed: "), "\(outcome.errors)")
      #expect(outcome.errors.contains("SSL_CERT_FILE"), "\(outcome.errors)")
      #expect(outcome.errors.contains("--cacert FILE"), "\(outcome.errors)")
    }
  }

  @Test(arguments: ["--proxy", "https_proxy"])
  func `if the proxy's host cannot be resolved, the error says so and suggests --proxy`(
    setting: String
  ) async throws {
    let proxy = "http://user@proxy.invalid:8080"
    let outcome = try await token(
      at: "https://server.example", setting == "--proxy" ? [setting, proxy] : [],
      setting == "--proxy" ? [:] : [setting: proxy])
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("error: connection_failed: the host of the proxy towards"),
      "\(outcome.errors)")
    #expect(outcome.errors.contains("In sq-demo, --proxy names another proxy"))
  }

  @Test func `if no proxy runs at the given address, the error names the address`() async throws {
    let closed = try ClosedPort()
    let outcome = try await token(
      at: "https://server.example", ["--proxy", "127.0.0.1:\(closed.number)"])
    #expect(
      outcome.errors.contains("the proxy 127.0.0.1:\(closed.number), through which requests to"),
      "\(outcome.errors)")
  }
}

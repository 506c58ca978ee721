import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Commands on a machine whose OpenSSL configuration makes algorithms unavailable.
@Suite(.timeLimit(.minutes(2))) struct OpenSSLConfigurationTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for configuration in Configuration.allCases {
      try folder.write(configuration.text, to: "\(configuration).cnf")
    }
  }

  enum Configuration: CaseIterable, Sendable {
    /// The configuration activates only the legacy provider.
    ///
    /// This known mistake turns the default provider off.
    case legacyOnly
    /// The configuration demands FIPS on a machine without a FIPS module.
    case fipsWithoutModule

    var text: String {
      switch self {
      case .legacyOnly:
        "openssl_conf = a\n[a]\nproviders = b\n[b]\nlegacy = c\n[c]\nactivate = 1\n"
      case .fipsWithoutModule:
        "openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n"
      }
    }
  }

  private func run(
    _ words: [String], _ configuration: Configuration? = nil, _ store: DemoStore? = nil
  ) async throws -> DemoProcess.Outcome {
    var environment = store?.environment ?? [:]
    if let configuration { environment["OPENSSL_CONF"] = folder.file("\(configuration).cnf") }
    return try await DemoProcess.run(
      words + (store?.options(folder) ?? ["--store", "memory"]), in: folder,
      environment: environment)
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      "sandbox-app", "--scope", "demo",
    ]
  }

  private func sandbox() async throws -> SandboxServer {
    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.accepted)
    return try await SandboxServer.start(options)
  }

  /// If an error called the store damaged, a user would replace it by an older copy, whose refresh
  /// token is already used.
  @Test(arguments: DemoStore.all)
  func `if OpenSSL lacks an algorithm, a command neither changes the store nor calls it damaged`(
    store: DemoStore
  ) async throws {
    let sandbox = try await sandbox()
    let login = try await run(login(sandbox) + ["--dpop"], nil, store)
    #expect(login.status == 0, "\(login.errors)")
    let record = try #require(await store.open(store.path(folder)).load("default"))
    for configuration in Configuration.allCases {
      for words in [["call", "GET", "/api/me"], ["token"], ["accounts"]] {
        let outcome = try await run(words, configuration, store)
        #expect(!outcome.isKilled && !outcome.errors.contains("damaged"), "\(outcome.errors)")
        // A command that needs no missing algorithm may still work.
        guard outcome.status != 0 || words[0] == "call" else { continue }
        #expect(outcome.status == 1, "\(words): \(outcome.errors)")
        #expect(outcome.errors.contains("OPENSSL_CONF"), "\(outcome.errors)")
        let codes = ["store_failed", "client_key_failed"]
        #expect(codes.contains { outcome.errors.contains("error: \($0): ") }, "\(outcome.errors)")
        #expect(!outcome.errors.contains("--store"), "no other store would help")
      }
    }
    #expect(try await store.open(store.path(folder)).load("default") == record)
    #expect(try await run(["call", "GET", "/api/me"], nil, store).status == 0)
    await sandbox.stop()
  }

  @Test(arguments: Configuration.allCases)
  func `a sign-in without signatures works, and the errors of other sign-ins name OPENSSL_CONF`(
    configuration: Configuration
  ) async throws {
    let sandbox = try await sandbox()
    let plain = try await run(login(sandbox), configuration)
    #expect(plain.status == 0, "\(plain.errors)")
    let bound = try await run(login(sandbox) + ["--dpop"], configuration)
    #expect(bound.status == 1 && bound.errors.contains("OPENSSL_CONF"), "\(bound.errors)")
    try folder.write(ClientKey().pem(), to: "key.pem")
    let identified = try await run(login(sandbox).dropLast() + ["openid"], configuration)
    #expect(identified.status == 1 && identified.errors.contains("OPENSSL_CONF"))
    let keyed = try await run(login(sandbox) + ["--key", folder.file("key.pem")], configuration)
    #expect(!keyed.isKilled && keyed.errors.contains("OPENSSL_CONF"), "\(keyed.errors)")
    #expect(!keyed.errors.contains("not a complete"))
    await sandbox.stop()
  }

  @Test(arguments: Configuration.allCases)
  func `the sandbox does not start if OpenSSL cannot sign`(configuration: Configuration)
    async throws
  {
    for words in [["login", "--sandbox"], ["sandbox"]] {
      let outcome = try await DemoProcess.run(
        words, in: folder, environment: ["OPENSSL_CONF": folder.file("\(configuration).cnf")])
      #expect(outcome.status == 1 && !outcome.isKilled, "\(words): \(outcome.errors)")
      #expect(outcome.errors.contains("OPENSSL_CONF"), "\(words): \(outcome.errors)")
    }
  }
}

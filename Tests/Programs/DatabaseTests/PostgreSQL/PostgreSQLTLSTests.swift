import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// A database that is reached over TLS.
///
/// The store verifies the database's certificate.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLTLSTests {
  private let certificates: Certificates

  init() async throws {
    certificates = try await Certificates()
  }

  private func store(
    _ server: PostgreSQLServer, mode: String, knowsAuthority: Bool = true
  ) -> PostgreSQLTokenStore {
    var parameters = ["sslmode": mode]
    if knowsAuthority { parameters["sslrootcert"] = certificates.path("ca.pem") }
    return PostgreSQLTokenStore(
      connection: server.connection(parameters: parameters), key: .testKey)
  }

  @Test func `accounts are stored and changes reported over TLS`() async throws {
    try await PostgreSQLServer.running(certificates: certificates) { server in
      let store = store(server, mode: "verify-full")
      try await store.save(record("a"))
      #expect(try await store.load("a") == record("a"))
      let bell = Gate(isOpen: false)
      let observation = store.observe("a") { bell.open() }
      let changed = record("a", token: SQToken(accessToken: "A2"))
      try await self.store(server, mode: "verify-full").save(changed)
      await bell.pass()
      // The sessions of the store and of its observation are still open.
      let areEncrypted = try await server.run(
        "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
          + "WHERE usename = 'app'")
      #expect(areEncrypted == "t")
      observation?.end()
      withExtendedLifetime(store) {}
    }
  }

  @Test(arguments: ["expired", "other"])
  func `a server with a wrong certificate gets no data`(certificate: String) async throws {
    let key = certificate == "expired" ? "server.key" : "other.key"
    try await PostgreSQLServer.running(
      settings: ["ssl_cert_file": "\(certificate).pem", "ssl_key_file": key],
      certificates: certificates
    ) { server in
      let error = try await #require(throws: SQOAuthError.self) {
        try await store(server, mode: "verify-full").save(record("a"))
      }
      #expect(error.code == .storeFailed && error.message.contains("certificate"), "\(error)")
      // An app may choose a weaker mode, which accepts this certificate.
      let weaker =
        certificate == "other"
        ? store(server, mode: "verify-ca") : store(server, mode: "require", knowsAuthority: false)
      #expect(try await weaker.load("a") == nil)
    }
  }
}

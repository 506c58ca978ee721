import Foundation
import ProgramSupport
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The errors of an unusable client certificate, and of a server that refuses a usable one.
@Suite(.timeLimit(.minutes(2)), .requires(ProgramRequirement(programs: ["openssl"])))
struct ClientCertificateTests {
  let certificates: Certificates

  init() async throws {
    certificates = try await Certificates()
  }

  /// The unusable pairs of a certificate chain and a key, each with words of its error message.
  enum Flaw: String, CaseIterable, Sendable {
    case encryptedKey = "openssl pkey -in KEY"
    case encryptedTraditionalKey = "key is encrypted"
    case otherKey = "belongs to another certificate"
    case emptyKey = "no private key"
    case publicKey = "private key in PEM"
    case certificateAsKey = "has no private key"
    case emptyChain = "no certificate"
    case keyAsChain = "chain has no certificate"
    case binaryChain = "no certificate in PEM"
  }

  private func pair(_ flaw: Flaw) async throws -> (chain: Data, key: Data) {
    let (chain, key) = (try certificates.data("client.pem"), try certificates.data("client.key"))
    let plain = try ClientKey(pem: String(decoding: key, as: UTF8.self))
    switch flaw {
    case .encryptedKey: return (chain, Data(try plain.pem(passphrase: "open sesame").utf8))
    case .encryptedTraditionalKey:
      let sealing = try await ChildProcess.run(
        [
          "openssl", "ec", "-in", certificates.path("client.key"), "-aes256", "-passout", "pass:x",
        ])
      try #require(sealing.output.contains("Proc-Type: 4,ENCRYPTED"), "\(sealing.errors)")
      return (chain, Data(sealing.output.utf8))
    case .otherKey: return (chain, try certificates.data("other.key"))
    case .emptyKey: return (chain, Data())
    case .publicKey: return (chain, Data("-----BEGIN PUBLIC KEY-----\nAA==\n".utf8))
    case .certificateAsKey: return (chain, chain)
    case .emptyChain: return (Data(), key)
    case .keyAsChain: return (key, key)
    case .binaryChain: return (Data([0x30, 0x82, 0, 1]), key)
    }
  }

  /// The SDK checks the pair itself: libcurl would end the process for an encrypted key, and would
  /// report the other flaws as faults of the server.
  @Test(arguments: Flaw.allCases)
  func `an unusable pair of certificate and key is a configuration error before any connection`(
    flaw: Flaw
  ) async throws {
    let (chain, key) = try await pair(flaw)
    var configuration = HTTPTransportConfiguration.direct
    configuration.clientCertificate = .init(chain: chain, privateKey: key)
    let client = CurlTransport(configuration: configuration)
    for scheme in ["https", "http"] {
      let url = try #require(URL(string: "\(scheme)://127.0.0.1:9/"))
      let error = try #require(
        await failure(.invalidConfiguration) { try await client.send(WebRequest(url: url)) })
      #expect(error.message.contains("clientCertificate"), "\(error)")
      #expect(error.message.contains(flaw.rawValue), "\(error)")
      #expect(!everyText(of: error).contains("BEGIN"))
    }
  }

  @Test
  func `a certificate and its key may be in one text, and a chain may have more certificates`()
    async throws
  {
    let (client, key) = (try certificates.data("client.pem"), try certificates.data("client.key"))
    let authority = try certificates.data("ca.pem")
    for (chain, key) in [
      (client + authority, key), (client + key, client + key), (key + client, key),
    ] {
      var configuration = HTTPTransportConfiguration.direct
      configuration.clientCertificate = .init(chain: chain, privateKey: key)
      let url = try #require(URL(string: "http://127.0.0.1:9/"))
      await failure(.connectionFailed) {
        try await CurlTransport(configuration: configuration).send(WebRequest(url: url))
      }
    }
  }

  // MARK: What the server says

  /// Runs a server that demands a certificate from an authority, and returns the message of the
  /// client's error.
  private func message(
    _ version: String, authority: String, with certificate: String?
  ) async throws -> String {
    let server = try await Program.serving { port in
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert",
        certificates.path("server.pem"), "-key", certificates.path("server.key"), "-www", version,
        "-Verify", "3", "-CAfile", certificates.path(authority), "-verify_return_error",
      ]
    }
    var configuration = HTTPTransportConfiguration.direct
    configuration.additionalAuthorities = try certificates.data("ca.pem")
    if let certificate {
      configuration.clientCertificate = .init(
        chain: try certificates.data("\(certificate).pem"),
        privateKey: try certificates.data("\(certificate).key"))
    }
    let client = CurlTransport(configuration: configuration)
    let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
    let error = try #require(
      await failure(.tlsFailed) { try await client.send(WebRequest(url: url)) })
    withExtendedLifetime(server) {}
    return error.message
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `the error for a missing or refused client certificate names the property to check`(
    version: String
  )
    async throws
  {
    let without = try await message(version, authority: "ca.pem", with: nil)
    #expect(without.contains("clientCertificate"), "\(without)")
    // `other.pem` is no authority: it did not sign the client's certificate.
    let unknown = try await message(version, authority: "other.pem", with: "client")
    #expect(unknown.contains("check HTTPTransportConfiguration.clientCertificate"), "\(unknown)")
    #expect(!unknown.contains("additionalAuthorities"))
  }
}

import Foundation
import ProgramSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Client keys together with other programs' files and signatures.
@Suite(.timeLimit(.minutes(2)), .requires(ProgramRequirement(programs: ["openssl"])))
struct ClientKeyPeerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func openssl(_ arguments: String, input: String = "") async throws -> String {
    let result = try await ChildProcess.run(
      ["openssl"] + arguments.split(separator: " ").map(String.init), input: .text(input))
    try #require(result.status == 0, "\(result.errors)")
    return result.output
  }

  static let files: [(String, JWSAlgorithm)] = [
    ("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048", .rs256),
    ("genrsa -traditional 2048", .rs256),
    ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", .es256),
    ("ecparam -name prime256v1 -genkey -noout", .es256),
    ("ecparam -name secp384r1 -genkey", .es384),
    ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521", .es512),
    ("genpkey -algorithm ED25519", .edDSA),
  ]

  @Test(arguments: files)
  func `a key created by openssl can be read, and the SDK writes the same PEM text as openssl`(
    command: String, algorithm: JWSAlgorithm
  ) async throws {
    let text = try await openssl(command)
    let key = try ClientKey(pem: text)
    #expect(key.algorithm == algorithm)
    _ = try MadeKeys.claims(of: await key.sign(["a": 1]), by: key)
    let sealed = try await openssl(
      "pkey -aes256 -passout pass:secret", input: text)
    #expect(try ClientKey(pem: sealed, passphrase: "secret") == key)
    // The SDK writes the same PEM text as openssl, byte for byte.
    #expect(try await openssl("pkey", input: text) == key.pem())
    let opened = try await openssl(
      "pkey -passin pass:other", input: try key.pem(passphrase: "other"))
    #expect(try opened == key.pem())
  }

  @Test(arguments: [
    "genrsa -traditional -aes128 -passout pass:secret 2048",
    "genpkey -algorithm RSA -aes-256-cbc -pass pass:secret",
  ])
  func `an encrypted key created by openssl can be read`(command: String) async throws {
    let text = try await openssl(command)
    #expect(try ClientKey(pem: text, passphrase: "secret").algorithm == .rs256)
    failure(.wrongPassphrase) { try ClientKey(pem: text) }
    failure(.wrongPassphrase) { try ClientKey(pem: text, passphrase: "secre") }
  }

  @Test(arguments: [
    "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024", "genpkey -algorithm ED448",
    "genpkey -algorithm X25519", "ecparam -name secp256k1 -genkey -noout",
    "ecparam -name secp224r1 -genkey -noout", "genpkey -algorithm RSA-PSS",
    "req -x509 -newkey ed25519 -nodes -subj /CN=x -keyout /dev/null",
  ])
  func `an unsupported key is rejected`(command: String) async throws {
    let text = try await openssl(command)
    failure(.invalidConfiguration) { try ClientKey(pem: text) }
  }

  @Test func `the error for a public key in place of a private key says so`() async throws {
    let key = try ClientKey(generating: .es256)
    let text = try await openssl("pkey -pubout", input: try key.pem())
    let error = failure(.invalidConfiguration) { try ClientKey(pem: text) }
    #expect(error?.message.contains("public key") == true)
  }

  @Test(
    .requires("python3-jwt and python3-cryptography; run Scripts/install test") {
      try await ChildProcess.run(["/usr/bin/python3", "-c", "import jwt, cryptography"]).status == 0
    }, arguments: MadeKeys.algorithms)
  func `PyJWT verifies the signatures of a client key`(algorithm: JWSAlgorithm) async throws {
    let key = try MadeKeys.key(for: algorithm)
    let text = try await key.sign(["aud": "a", "sub": "me", "exp": 4_000_000_000])
    let question: JSONValue = [
      "keys": .array([try #require(key.publicJWK)]), "audience": "a",
      "tokens": [["token": .string(text), "alg": .string(algorithm.rawValue)]],
    ]
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Peers/verify").path
    let input = String(decoding: try JSONEncoder().encode(question), as: UTF8.self)
    let result = try await ChildProcess.run([script], input: .text(input))
    #expect(result.output.contains("\"sub\": \"me\""), "\(result)")
  }
}

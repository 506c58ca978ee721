import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// OAuth tokens that are bound to a key in a PKCS #11 token, which software emulates here.
@Suite(
  .requires(ProgramRequirement(programs: ["softhsm2-util", "pkcs11-tool"])),
  .timeLimit(.minutes(2)))
struct HardwareKeyTests {
  /// A PKCS #11 token, which never reveals its private key.
  private struct Token: Sendable {
    private static let module = "/usr/lib/softhsm/libsofthsm2.so"
    private let folder: TemporaryFolder

    init() async throws {
      folder = try TemporaryFolder()
      try FileManager.default.createDirectory(
        atPath: folder.file("tokens"), withIntermediateDirectories: true)
      let settings = "directories.tokendir = \(folder.file("tokens"))\nobjectstore.backend = file\n"
      try Data(settings.utf8).write(to: URL(filePath: folder.file("conf")))
      try await run("softhsm2-util --init-token --free --label test --pin 1234 --so-pin 1234")
      try await tool("--keypairgen --key-type EC:prime256v1 --id 01 --label key")
    }

    private func run(_ command: String) async throws {
      let result = try await ChildProcess.run(
        command.split(separator: " ").map(String.init),
        environment: ["SOFTHSM2_CONF": folder.file("conf")])
      try #require(result.status == 0, "\(result.errors)")
    }

    private func tool(_ arguments: String) async throws {
      try await run(
        "pkcs11-tool --module \(Self.module) --token-label test --pin 1234 \(arguments)")
    }

    /// Returns the public key as a JSON Web Key.
    func publicJWK() async throws -> String {
      let path = folder.file("public")
      try await tool("--read-object --type pubkey --id 01 -o \(path)")
      // The file ends with the public point: the byte 04, and two coordinates of 32 bytes.
      let point = try Data(contentsOf: URL(filePath: path)).suffix(64)
      let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
      return #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
    }

    func sign(_ message: Data) async throws -> Data {
      let name = UUID().uuidString
      let (digest, signature) = (folder.file("\(name).digest"), folder.file("\(name).signature"))
      try Digest.sha256(message).write(to: URL(filePath: digest))
      try await tool("--sign -m ECDSA --id 01 --signature-format rs -i \(digest) -o \(signature)")
      return try Data(contentsOf: URL(filePath: signature))
    }
  }

  @Test func `a hardware key signs DPoP proofs, and the token store contains no private key`()
    async throws
  {
    let token = try await Token()
    let key = try ClientKey(
      algorithm: .es256, keyID: nil, publicJWK: try await token.publicJWK()
    ) { try await token.sign($0) }
    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.required)
    options.dpop.noncesRequiredBy = [.authorizationServer, .api]
    let fixture = try await SandboxFixture(options)
    let store = MemoryTokenStore()
    fixture.oauth.environment.tokenStore = store
    try fixture.register { $0.tokenBinding = .dpopKey(key) }
    try await fixture.oauth.signIn()
    try await fixture.oauth.refresh()
    let answer = try await fixture.oauth.send(WebRequest(url: fixture.sandbox.url(.me)))
    #expect(answer.status == 200)
    let record = try #require(await store.load("default"))
    let name = try ProofKey(ofApp: key)
    #expect(try record.proofKey == name && record.proofKey?.storedKey == nil)
    let proofs = fixture.sandbox.requests.compactMap(\.proof)
    #expect(proofs.count >= 3 && proofs.allSatisfy { $0.keyThumbprint == name.thumbprint })
  }
}

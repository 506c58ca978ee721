import Foundation
import OAuthSandbox
import SQBasics
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite struct `The file of a client's key` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func file(_ text: String, passphrase: String? = nil) throws -> KeyFile {
    try folder.write(text, to: "key")
    return try #require(
      try KeyFile(
        folder.file("key"), passphrase: passphrase.map { Secret(.keyPassphrase, $0) }))
  }

  private func jwk(
    _ pair: KeyPair, _ change: (inout [String: JSONValue]) -> Void = { _ in }
  ) throws -> String {
    // `publicJWK` has only the public half of the pair.
    let key = try ClientKey(pem: pair.privatePEM)
    var members = try #require(key.publicJWK?.object)
    change(&members)
    return try oneLineOfJSON(.object(members))
  }

  @Test(arguments: [0o602, 0o620, 0o622])
  func `a key file that other users can write to is refused`(mode: mode_t) throws {
    try folder.write(KeyPair.p256.privatePEM, to: "key")
    #expect(chmod(folder.file("key"), mode) == 0)
    let failure = try #require(throws: Failure.self) {
      try KeyFile(folder.file("key"), passphrase: nil)
    }
    #expect(failure.code == "usage" && failure.message.contains("other users can write to it"))
  }

  @Test(.requires("root", geteuid() == 0))
  func `if root runs the program, a key file of a different user is refused`() throws {
    try folder.write(KeyPair.p256.privatePEM, to: "key")
    #expect(chown(folder.file("key"), 65534, 65534) == 0)
    let failure = try #require(throws: Failure.self) {
      try KeyFile(folder.file("key"), passphrase: nil)
    }
    #expect(failure.code == "usage" && failure.message.contains("it belongs to user 65534"))
  }

  @Test(arguments: KeyPair.all)
  func `a key in PEM is read`(pair: KeyPair) throws {
    let key = try file(pair.privatePEM + "\n").clientKey(for: .standard)
    #expect(try key == ClientKey(pem: pair.privatePEM))
  }

  @Test(arguments: [
    (KeyPair.rsa, SecurityProfile.standard, JWSAlgorithm.rs256), (.rsa, .fapi2, .ps256),
    (.rsa, .fapi2MessageSigning, .ps256), (.p256, .fapi2, .es256), (.ed25519, .fapi2, .edDSA),
  ])
  func `a key signs with an algorithm that the profile allows`(
    pair: KeyPair, profile: SecurityProfile, algorithm: JWSAlgorithm
  ) throws {
    #expect(try file(pair.privatePEM).clientKey(for: profile).algorithm == algorithm)
  }

  /// The key of RFC 8037, appendix A.1, with a key ID.
  private static let privateJWK =
    #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#
    + #""x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"mine"}"#

  @Test(arguments: ["", " \n"])
  func `a JSON Web Key is read, and keeps its key ID`(start: String) throws {
    let key = try file(start + Self.privateJWK).clientKey(for: .fapi2)
    #expect(key.algorithm == .edDSA && key.keyID == "mine")
  }

  @Test func `a key passphrase opens an encrypted key and is ignored for an unencrypted key`()
    throws
  {
    let sealed = try ClientKey(pem: KeyPair.p256.privatePEM).pem(passphrase: "open sesame")
    let key = try file(sealed, passphrase: "open sesame")
    #expect(!key.isLocked)
    #expect(try key.clientKey(for: .standard) == ClientKey(pem: KeyPair.p256.privatePEM))
    #expect(try file(sealed).isLocked)
    #expect(try !file(KeyPair.p256.privatePEM, passphrase: "open sesame").isLocked)
    let failure = try #require(throws: Failure.self) { try file(sealed, passphrase: "barley") }
    #expect(failure.code == "wrong_passphrase" && failure.status == .notAuthorized)
    #expect(failure.message.contains(folder.file("key")))
  }

  @Test func `without a terminal, the error of an encrypted key names SQ_KEY_PASSPHRASE`()
    async throws
  {
    let sealed = try ClientKey(pem: KeyPair.p256.privatePEM).pem(passphrase: "open sesame")
    let locked = try file(sealed)
    let failure = try await #require(throws: Failure.self) {
      try await locked.unlocked(Console(), by: nil)
    }
    #expect(failure.code == "passphrase_needed" && failure.message.contains(locked.path))
    #expect(failure.message.contains("SQ_KEY_PASSPHRASE"))
  }

  @Test(arguments: [
    ("", "not a complete"), ("no key", "not a complete"), ("{}", "not a complete"),
    ("{", "JSON"), (KeyPair.p256.publicPEM, "no private key"),
    (String(KeyPair.p256.privatePEM.dropLast(40)), "not a complete"),
    (String(repeating: "a", count: 65537), "longer than 65536 bytes"),
  ])
  func `the error of a file without a usable private key names the file and quotes no key`(
    text: String, reason: String
  ) throws {
    let failure = try #require(throws: Failure.self) { try file(text) }
    #expect(failure.status == .wrongUsage)
    #expect(failure.message.contains(folder.file("key")))
    #expect(failure.message.contains(reason), "\(failure.message)")
    #expect(!failure.message.contains(KeyPair.p256.privatePEM.dropFirst(40).prefix(20)))
  }

  @Test(arguments: ["key.pem", "./key.pem", "a/key.pem"])
  func `the path of a file is made absolute`(path: String) {
    let absolute = AbsolutePath.of(path)
    #expect(absolute.hasPrefix("/") && absolute.hasSuffix("/" + path.replacing("./", with: "")))
    #expect(!absolute.contains("/./"))
    #expect(AbsolutePath.of("/x/" + path) == "/x/" + path)
  }

  @Test func `the text of a key is never printed`() throws {
    let key = try file(KeyPair.p256.privatePEM)
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!"\(key)\(String(reflecting: key))\(dumped)".contains("PRIVATE"))
  }

  // MARK: The key of the sandbox's client

  private func sandboxKey(
    _ text: String, passphrase: String? = nil, isStrict: Bool = false
  ) throws -> SandboxKey {
    try folder.write(text, to: "key")
    return try SandboxKey(
      folder.file("key"), passphrase: passphrase.map { Secret(.keyPassphrase, $0) },
      isStrict: isStrict)
  }

  @Test(arguments: KeyPair.all, [false, true])
  func `a sandbox registers the same key from its private and its public half`(
    pair: KeyPair, isStrict: Bool
  ) throws {
    let whole = try sandboxKey(pair.privatePEM, isStrict: isStrict)
    let half = try sandboxKey(pair.publicPEM, isStrict: isStrict)
    #expect(whole.isPrivate && !half.isPrivate)
    #expect(whole.publicJWK == half.publicJWK)
    let used = try file(pair.privatePEM).clientKey(for: isStrict ? .fapi2 : .standard)
    #expect(whole.publicJWK == used.publicJWK, "the client signs with the registered algorithm")
  }

  @Test(arguments: KeyPair.all)
  func `a sandbox registers a public JSON Web Key`(pair: KeyPair) throws {
    let key = try ClientKey(pem: pair.privatePEM).publicJWK
    #expect(try sandboxKey(jwk(pair)).publicJWK == key)
    let bare = try jwk(pair) { $0 = $0.filter { !["alg", "kid", "use"].contains($0.key) } }
    #expect(try sandboxKey(bare).publicJWK == key, "its name is its thumbprint")
    let named = try sandboxKey(jwk(pair) { $0["kid"] = "mine" })
    #expect(named.publicJWK.object?["kid"] == "mine")
  }

  @Test func `a sandbox registers no private member of a JSON Web Key`() throws {
    let key = try sandboxKey(Self.privateJWK)
    #expect(key.isPrivate && key.publicJWK.object?["d"] == nil)
    #expect(key.publicJWK.object?["kid"] == "mine")
  }

  @Test func `a sandbox registers an encrypted key only with its passphrase`() throws {
    let sealed = try ClientKey(pem: KeyPair.p256.privatePEM).pem(passphrase: "open sesame")
    #expect(
      try sandboxKey(sealed, passphrase: "open sesame").publicJWK
        == sandboxKey(KeyPair.p256.publicPEM).publicJWK)
    let failure = try #require(throws: Failure.self) { try sandboxKey(sealed) }
    #expect(failure.message.contains("SQ_KEY_PASSPHRASE") && failure.message.contains("-pubout"))
  }

  private static let begin = "-----BEGIN PUBLIC KEY-----\n"
  private static let end = "\n-----END PUBLIC KEY-----\n"

  @Test(arguments: [
    "", "AA==", "MAA=", "MIA=", "MIL//w==", "!",
    // The curve secp256k1, and X25519.
    "MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEoaGhoQ==",
    "MCowBQYDK2VuAyEAoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE=",
  ])
  func `a public key in PEM that is damaged or of an unsupported type is rejected`(content: String)
    throws
  {
    let text = Self.begin + content + Self.end
    let failure = try #require(throws: Failure.self) { try sandboxKey(text) }
    #expect(failure.status == .wrongUsage && failure.message.contains(folder.file("key")))
  }

  @Test(arguments: KeyPair.all)
  func `a public key in PEM that is cut off after any multiple of three bytes is rejected`(
    pair: KeyPair
  ) throws {
    let lines = pair.publicPEM.split(separator: "\n").dropFirst().dropLast()
    let content = Array(lines.joined())
    // Four characters of Base64 encode three bytes.
    for count in stride(from: 0, to: content.count - 4, by: 4) {
      let text = Self.begin + String(content.prefix(count)) + Self.end
      #expect(KeyText.membersOfPEM(text) == nil, "\(count)")
    }
  }
}

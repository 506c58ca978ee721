import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// A web sign-in in a cookie: it is encrypted, tamper-proof and bound to one browser session.
@Suite struct WebSignInSealerTests {
  let signIn: WebSignIn
  let key = StoreKey.raw(Data(repeating: 7, count: 32))

  init() throws {
    let body = """
      {"exp":1750000300,"request":{"client_id":"web","provider":"https://id.example",\
      "redirect_uri":"https://app.example.com/callback","iss":"https://id.example",\
      "requires_iss":true,"form":false,"pages":true,"state":"the-state","code_verifier":"the-verifier",\
      "identity":{"scope":"openid","nonce":"the-nonce"}}}
      """
    signIn = try JSONDecoder().decode(WebSignIn.self, from: Data(body.utf8))
  }

  /// The error of a sign-in that comes too late says how long ago it began.
  @Test(arguments: [Int64.min, -1, 253_402_300_800, .max])
  func `a sign-in that began at an impossible time is rejected`(began: Int64) throws {
    var members = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(signIn))
    var request = try #require(members["request"]?.object)
    var identity = try #require(request["identity"]?.object)
    identity["requested"] = .integer(began)
    request["identity"] = .object(identity)
    members = .object(["exp": 1_750_000_300, "request": .object(request)])
    let json = try JSONEncoder().encode(members)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(WebSignIn.self, from: json) }
  }

  @Test func `a sealed sign-in opens with the same key and session`() throws {
    let text = try WebSignInSealer(key: key).seal(signIn, session: "browser")
    #expect(try WebSignInSealer(key: key).open(text, session: "browser") == signIn)
    #expect(text.utf8.count < 1_000)
    #expect(text.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) })
    #expect(try WebSignInSealer(key: key).seal(signIn, session: "browser") != text)
  }

  @Test func `another session, another key or a changed text is rejected`() throws {
    let sealer = try WebSignInSealer(key: key)
    let text = try sealer.seal(signIn, session: "browser")
    failure(.webSignInInvalid) { try sealer.open(text, session: "another browser") }
    let other = try WebSignInSealer(key: .raw(Data(repeating: 8, count: 32)))
    failure(.webSignInInvalid) { try other.open(text, session: "browser") }
    for index in text.indices {
      var changed = text
      changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
      failure(.webSignInInvalid) { try sealer.open(changed, session: "browser") }
    }
    for wrong in ["", "A", "not base64url!", String(repeating: "A", count: 100_000)] {
      failure(.webSignInInvalid) { try sealer.open(wrong, session: "browser") }
    }
  }

  @Test func `an empty session is rejected when a sign-in is sealed or opened`() throws {
    let sealer = try WebSignInSealer(key: key)
    failure(.invalidConfiguration) { try sealer.seal(signIn, session: "") }
    let text = try sealer.seal(signIn, session: "browser")
    failure(.webSignInInvalid) { try sealer.open(text, session: "") }
  }

  @Test func `hosts can change the key one after the other`() throws {
    let new = StoreKey.raw(Data(repeating: 8, count: 32))
    let prepared = try WebSignInSealer(key: key, otherKeys: [new])
    let changed = try WebSignInSealer(key: new, otherKeys: [key])
    for (sealing, opening) in [(prepared, changed), (changed, prepared)] {
      let text = try sealing.seal(signIn, session: "s")
      #expect(try opening.open(text, session: "s") == signIn)
    }
  }

  @Test func `several hosts can share a key file, and a passphrase is rejected`() throws {
    let folder = try TemporaryFolder()
    let file = StoreKey.file(folder.file("key"))
    let text = try WebSignInSealer(key: file).seal(signIn, session: "s")
    #expect(try WebSignInSealer(key: file).open(text, session: "s") == signIn)
    failure(.invalidConfiguration) { try WebSignInSealer(key: .passphrase("a passphrase")) }
    failure(.invalidConfiguration) { try WebSignInSealer(key: .raw(Data(count: 31))) }
  }

  @Test func `a store with the same key cannot open a cookie`() throws {
    let text = try WebSignInSealer(key: key).seal(signIn, session: "s")
    let box = try #require(Base64URL.decode(text))
    let service = try EncryptionService(key: Data(repeating: 7, count: 32))
    failure(.storeDamaged) {
      try service.open(box, authenticating: Data("SequencingOAuth web sign-in 1\ns".utf8))
    }
  }

  @Test func `a sign-in that is too large for a cookie is rejected`() throws {
    let long = String(repeating: "scope ", count: 1_000)
    let body = String(decoding: try JSONEncoder().encode(signIn), as: UTF8.self)
      .replacing("openid", with: long)
    let large = try JSONDecoder().decode(WebSignIn.self, from: Data(body.utf8))
    failure(.invalidConfiguration) {
      try WebSignInSealer(key: key).seal(large, session: "s")
    }
  }

  @Test func `a sign-in with an RSA key is too large for a cookie, and the error says so`() throws {
    let key = ProofKey(try #require(PrivateKey(generating: .rsa)), algorithm: "PS256")
    let proofKey = String(decoding: try JSONEncoder().encode(key), as: UTF8.self)
    let body = String(decoding: try JSONEncoder().encode(signIn), as: UTF8.self)
      .replacing(#""state":"#, with: #""proof_key":\#(proofKey),"state":"#)
      .replacing(/the-(state|verifier|nonce)/, with: String(repeating: "r", count: 43))
    let bound = try JSONDecoder().decode(WebSignIn.self, from: Data(body.utf8))
    let error = failure(.invalidConfiguration) {
      try WebSignInSealer(key: self.key).seal(bound, session: "s")
    }
    #expect(error?.message.contains("PS256") == true)
  }
}

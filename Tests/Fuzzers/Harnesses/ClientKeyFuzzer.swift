import FoundationEssentials

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for a private key in PEM or in a JSON Web Key.
  ///
  /// Each PEM text is read without and with a passphrase, because some keys are encrypted.
  static let clientKey = Fuzzer("client-key") { input in
    let text = String(decoding: input, as: UTF8.self)
    try check { try ClientKey(pem: text) }
    try check { try ClientKey(pem: text, passphrase: "passphrase") }
    try check { try ClientKey(jwk: text) }
  }

  private static func check(_ read: () throws -> ClientKey) throws {
    do {
      try check(read())
    } catch let error as SQOAuthError {
      try require(error.description.isHarmless, "the error shows as \(error.description)")
    }
  }

  private static func check(_ key: ClientKey) throws {
    try require(key.description.isHarmless, "it shows as \(key)")
    guard let members = key.publicJWK?.object, case .here(let privateKey) = key.signer,
      let scheme = key.algorithm.scheme
    else { throw Finding(description: "the key lacks its public half, private half or algorithm") }
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
      try require(members[name] == nil, "the public half has the private member \(name)")
    }
    try require(!privateKey.isWeak, "a weak key is accepted")
    let message = Data("message".utf8)
    guard let signature = privateKey.signature(of: message, by: scheme),
      let publicKey = JSONWebKey(.object(members))?.publicKey
    else { throw Finding(description: "a key that cannot sign, or that no server can read") }
    try require(
      publicKey.isValid(signature, of: message, by: scheme),
      "the public half rejects a signature of the private half")
    guard !privateKey.hasNoPrimes else { return }
    guard let pem = try? key.pem(), let again = try? ClientKey(pem: pem, algorithm: key.algorithm)
    else { throw Finding(description: "the key cannot be written as PEM and read again") }
    try require(
      again.publicJWK?.object?["kid"] != nil
        && again.publicJWK.map(publicNumbers) == key.publicJWK.map(publicNumbers),
      "it reads differently when it is written again")
  }

  private static func publicNumbers(_ key: JSONValue) -> [String: JSONValue]? {
    key.object?.filter { ["kty", "crv", "n", "e", "x", "y"].contains($0.key) }
  }
}

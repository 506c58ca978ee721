import OAuthSandbox
import SQBasics
import SequencingOAuth

/// The public key of the sandbox's client, from a file with the private key or its public half.
struct SandboxKey: Sendable {
  /// The path of the file as the user wrote it.
  let path: String
  /// Whether the file has the private key too, so that `--key` can name it.
  let isPrivate: Bool
  /// The public JSON Web Key, with its algorithm and its name.
  let publicJWK: JSONValue

  /// Reads a private or a public key from a file.
  ///
  /// If `isStrict` is `true`, an RSA key that names no algorithm gets PS256 instead of RS256, as a
  /// client's key does under `--profile`.
  init(_ path: String, passphrase: Secret?, isStrict: Bool) throws(Failure) {
    self.path = path
    let text = try Failure.reading("the key file \(path)") { () throws(FileReading.ReadError) in
      try KeyText.readAny(at: path)
    }
    isPrivate = !KeyText.isPublic(text)
    if isPrivate, passphrase == nil, KeyText.isEncrypted(text) { throw Self.isEncrypted(path) }
    do throws(SQOAuthError) {
      let key =
        isPrivate
        ? try KeyText.clientKey(
          text, for: isStrict ? .fapi2 : .standard,
          passphrase: KeyText.isEncrypted(text) ? passphrase?.value : nil)
        : try Self.publicKey(text, isStrict: isStrict)
      publicJWK = key.publicJWK ?? .null
    } catch {
      throw .usage("the key file \(path.onScreen): \(error.message)")
    }
  }

  /// The name of the key's algorithm.
  var algorithm: String { publicJWK.object?["alg"]?.string ?? "" }

  private static func isEncrypted(_ path: String) -> Failure {
    let quoted = ShellWords.quote(path.onScreen)
    return .usage(
      "the key file \(path.onScreen) is encrypted; put its passphrase into "
        + "\(Secret.Kind.keyPassphrase.variable), or name its public half: "
        + "'openssl pkey -in \(quoted) -pubout' prints it")
  }

  /// Returns a key made from the public half in a text; it cannot sign.
  private static func publicKey(
    _ text: String, isStrict: Bool
  ) throws(SQOAuthError) -> ClientKey {
    let members =
      KeyText.isJWK(text)
      ? KeyText.members(text) : KeyText.membersOfPEM(text)?.mapValues(JSONValue.string)
    guard let members, let algorithm = algorithm(of: members, isStrict: isStrict),
      let jwk = try? oneLineOfJSON(.object(members))
    else { throw notUsable }
    return try ClientKey(
      algorithm: algorithm, keyID: members["kid"]?.string ?? ClientKey.thumbprint(of: members),
      publicJWK: jwk
    ) { _ in throw notUsable }
  }

  private static let notUsable = SQOAuthError(
    .invalidConfiguration,
    "the text is not a complete RSA, P-256, P-384, P-521 or Ed25519 key in PEM or as a JSON Web Key"
  )

  private static func algorithm(
    of members: [String: JSONValue], isStrict: Bool
  ) -> JWSAlgorithm? {
    if let name = members["alg"]?.string { return JWSAlgorithm(named: name) }
    switch (members["kty"]?.string, members["crv"]?.string) {
    case ("RSA", _): return isStrict ? .ps256 : .rs256
    case ("EC", "P-256"): return .es256
    case ("EC", "P-384"): return .es384
    case ("EC", "P-521"): return .es512
    case ("OKP", "Ed25519"): return .edDSA
    default: return nil
    }
  }
}

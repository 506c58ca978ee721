import SQFoundation

/// The changes with which a misbehaviour makes a token wrong.
extension SandboxJWT {
  /// Returns the signed token, or a wrong one if a test has planned that for the endpoint.
  func signed(at endpoint: SandboxEndpoint, _ sandbox: inout SandboxState) -> String {
    signed(spoiledBy: sandbox.plan.take(endpoint, at: .jwt), &sandbox)
  }

  /// Returns the signed token, or a wrong one if `kind` is a misbehaviour that concerns tokens.
  func signed(
    spoiledBy kind: SandboxMisbehaviour.Kind?, _ sandbox: inout SandboxState
  ) -> String {
    switch kind {
    case .jwt(let fault): return fault.misshapen(self, &sandbox) ?? signed
    case .alteredJWT(let change), .alteredIDToken(let change):
      var altered = self
      sandbox.calling { change(&altered) }
      return altered.signed
    default: return signed
    }
  }

  /// The token with one bit of its signature changed.
  var wronglySigned: String {
    let input = signingInput
    var signature = key.signature(of: Data(input.utf8))
    signature[signature.startIndex + signature.count / 2] ^= 1
    return input + "." + Crypto.base64URL(signature)
  }

  /// The token with `alg` set to `none` and an empty signature (RFC 7518, section 3.6).
  var unsigned: String {
    var jwt = self
    jwt.header["alg"] = "none"
    jwt.header["kid"] = nil
    return jwt.signingInput + "."
  }

  /// Returns the token signed by another key, with that key's algorithm and ID in the header.
  func signed(by other: SigningKey) -> String {
    var jwt = self
    jwt.key = other
    jwt.header["alg"] = .string(other.algorithm.rawValue)
    jwt.header["kid"] = other.id.map(SandboxJSON.string)
    return jwt.signed
  }

  /// A header and four random parts in the form of an encrypted token (RFC 7516, section 3.1).
  var encrypted: String {
    let header = Data(#"{"alg":"RSA-OAEP","enc":"A256GCM","cty":"JWT"}"#.utf8)
    return ([Crypto.base64URL(header)] + (0..<4).map { _ in Crypto.secret("") })
      .joined(separator: ".")
  }

  /// Adds `seconds` to a time claim.
  mutating func move(_ claim: String, by seconds: Int) {
    if case .integer(let time)? = claims[claim] { claims[claim] = .integer(time + seconds) }
  }
}

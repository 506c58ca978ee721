import SQFoundation

/// Functions that make a faulty ID token from the right one.
extension SandboxIDTokenFault {
  /// Returns the faulty token, or `nil` if the token response has no ID token.
  func token(
    from jwt: SandboxJWT, _ occasion: IDTokens.Occasion, _ sandbox: inout SandboxState
  ) -> String? {
    if self == .missing { return nil }
    return misshapen(jwt, &sandbox) ?? altered(jwt, occasion).signed
  }

  /// Returns the token with a wrong form, header or signature, or `nil` if this fault concerns a
  /// claim.
  func misshapen(_ jwt: SandboxJWT, _ sandbox: inout SandboxState) -> String? {
    if let token = misformed(jwt) ?? signedOtherwise(jwt, &sandbox) { return token }
    var altered = jwt
    alterHeader(&altered.header)
    return altered.header == jwt.header ? nil : altered.signed
  }

  /// Returns the token in a wrong form, or `nil` if this fault concerns something else.
  private func misformed(_ jwt: SandboxJWT) -> String? {
    let parts = jwt.signed.split(separator: ".").map(String.init)
    switch self {
    case .empty: return ""
    case .malformedBase64: return "\(parts[0]).\(parts[1])*.\(parts[2])"
    case .twoParts: return "\(parts[0]).\(parts[1])"
    case .encrypted: return jwt.encrypted
    case .headerNotJSON, .claimsNotJSON:
      var jwt = jwt
      if self == .headerNotJSON { jwt.header = .literal("not JSON") }
      if self == .claimsNotJSON { jwt.claims = .literal("not JSON") }
      return jwt.signed
    case .unsigned: return jwt.unsigned
    case .noSignature: return jwt.signingInput + "."
    case .wrongSignature: return jwt.wronglySigned
    default: return nil
    }
  }

  /// Returns the token with another key's signature, or `nil` if this fault concerns something
  /// else.
  private func signedOtherwise(_ jwt: SandboxJWT, _ sandbox: inout SandboxState) -> String? {
    let own = jwt.key.algorithm
    let published = own.usesSecret ? sandbox.keys.key(for: .rs256) : jwt.key
    switch self {
    case .otherAlgorithm:
      return jwt.signed(by: sandbox.keys.key(for: own == .es256 ? .rs256 : .es256))
    case .hmacWithPublicKey:
      return jwt.signed(
        by: SigningKey(secret: published.publicPEM, algorithm: .hs256, id: published.id))
    case .unpublishedKey:
      return jwt.signed(by: SigningKey(generating: published.algorithm))
    case .weakKey:
      // A signature with PS512 does not fit into 1024 bits.
      let bits: Int32 = own == .ps512 ? 1040 : 1024
      let weak = SigningKey(generating: own.isRSA ? own : .rs256, rsaBits: bits)
      sandbox.keys.publish(weak)
      return jwt.signed(by: weak)
    case .embeddedKey:
      let foreign = SigningKey(generating: published.algorithm)
      var jwt = jwt
      jwt.header["jwk"] = foreign.json(namesKey: false)
      return jwt.signed(by: foreign)
    case .keyAddress:
      var jwt = jwt
      let address = SandboxJSON.string(sandbox.address + "/foreign-keys")
      jwt.header["jku"] = address
      jwt.header["x5u"] = address
      return jwt.signed(by: SigningKey(generating: published.algorithm))
    default: return nil
    }
  }
}

extension SandboxSigningAlgorithm {
  fileprivate var isRSA: Bool {
    switch family {
    case .rsa, .pss: true
    default: false
    }
  }
}

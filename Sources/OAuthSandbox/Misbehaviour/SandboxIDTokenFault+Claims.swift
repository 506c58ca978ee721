import SQFoundation

/// The changes that each fault makes in the header or the claims before the token is signed.
extension SandboxIDTokenFault {
  /// Returns the token, before it is signed, with this fault in its claims.
  func altered(
    _ jwt: SandboxJWT, _ occasion: IDTokens.Occasion
  ) -> SandboxJWT {
    var jwt = jwt
    alterParties(&jwt.claims, occasion)
    alterTimes(&jwt, occasion)
    alterBinding(&jwt.claims, occasion)
    return jwt
  }

  func alterHeader(_ header: inout SandboxJSON) {
    switch self {
    case .unknownKeyID: header["kid"] = "unknown"
    case .keyIDMissing: header["kid"] = nil
    case .critical:
      header["crit"] = ["urn:sandbox:extension"]
      header["urn:sandbox:extension"] = true
    case .doubledAlgorithm: header.repeatMember("alg", first: header["alg"])
    default: break
    }
  }

  private func alterParties(_ claims: inout SandboxJSON, _ occasion: IDTokens.Occasion) {
    let client = SandboxJSON.string(occasion.client.id)
    switch self {
    case .issuerWrong: claims["iss"] = "https://other.example"
    case .issuerWithSlash:
      if case .string(let issuer)? = claims["iss"] { claims["iss"] = .string(issuer + "/") }
    case .issuerMissing: claims["iss"] = nil
    case .otherSubject: claims["sub"] = "another-user"
    case .subjectMissing: claims["sub"] = nil
    case .subjectEmpty: claims["sub"] = ""
    case .doubledSubject: claims.repeatMember("sub", first: "another-user")
    case .audienceWrong: claims["aud"] = "another-client"
    case .audienceMissing: claims["aud"] = nil
    case .audienceEmpty: claims["aud"] = []
    case .audienceArray: claims["aud"] = [client]
    case .audienceExtra:
      claims["aud"] = [client, "another-client"]
      claims["azp"] = client
    case .authorizedPartyWrong: claims["azp"] = "another-client"
    case .authorizedPartyAdded: claims["azp"] = client
    case .authorizedPartyMissing:
      if occasion.client.additionalAudiences.isEmpty {
        claims["aud"] = [client, "another-client"]
      }
      claims["azp"] = nil
    default: break
    }
  }

  private func alterTimes(_ jwt: inout SandboxJWT, _ occasion: IDTokens.Occasion) {
    let signIn = Int(occasion.identity.signIn.date.timeIntervalSince1970)
    switch self {
    case .expired:
      jwt.claims["exp"] = jwt.claims["iat"]
      jwt.move("exp", by: -3600)
    case .expiryMissing: jwt.claims["exp"] = nil
    case .expiryNotNumber: jwt.claims["exp"] = "tomorrow"
    case .issueDateMissing: jwt.claims["iat"] = nil
    case .issuedInFuture: jwt.move("iat", by: 3600)
    case .issuedTooLongAgo: jwt.move("iat", by: -86400)
    case .notYetValid:
      jwt.claims["nbf"] = jwt.claims["iat"]
      jwt.move("nbf", by: 3600)
    case .authenticationDateMissing: jwt.claims["auth_time"] = nil
    case .authenticatedTooLongAgo: jwt.claims["auth_time"] = .integer(signIn - 86400)
    case .authenticatedLater: jwt.claims["auth_time"] = .integer(signIn + 10)
    default: break
    }
  }

  private func alterBinding(_ claims: inout SandboxJSON, _ occasion: IDTokens.Occasion) {
    let otherHash = SandboxJSON.string(
      Crypto.halfHash(of: "another", for: occasion.client.idTokenAlgorithm))
    switch self {
    case .tooLong: claims["padding"] = .string(String(repeating: "x", count: 1 << 20))
    case .nonceWrong: claims["nonce"] = "another-nonce"
    case .nonceMissing: claims["nonce"] = nil
    case .accessTokenHashWrong: claims["at_hash"] = otherHash
    case .accessTokenHashMissing: claims["at_hash"] = nil
    case .codeHashWrong: claims["c_hash"] = otherHash
    case .acrMissing: claims["acr"] = nil
    case .acrOther: claims["acr"] = "urn:sandbox:other"
    default: break
    }
  }
}

extension SandboxJSON {
  /// Adds a second member of this name, with another value, before all other members.
  fileprivate mutating func repeatMember(_ name: String, first value: SandboxJSON?) {
    guard case .object(let members) = self, let value else { return }
    self = .object([Member(name, value)] + members)
  }
}

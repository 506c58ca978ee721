/// The rules for the keys that codes and tokens are bound to.
///
/// - SeeAlso: RFC 9449, sections 5 and 10
extension SandboxState {
  /// Verifies the proof in a token request, and returns the request with the proven key.
  mutating func proving(
    _ request: SandboxRequest, of client: SandboxClient
  ) throws(OAuthFault) -> SandboxRequest {
    do throws(ProofFault) {
      let key = try Proofs.key(of: request.provable, for: .authorizationServer, &self)
      guard key != nil || !requiresBoundTokens(of: client) else {
        throw .invalid("The client's tokens are bound to a key, so the request needs a proof.")
      }
      return request.with(provenKey: key)
    } catch {
      throw OAuthFault(error, self)
    }
  }

  private func requiresBoundTokens(of client: SandboxClient) -> Bool {
    switch options.dpop.policy {
    case .off: false
    case .accepted: client.requiresBoundTokens
    case .required: true
    }
  }

  /// Checks that a token request proves possession of the key that a code or a refresh token is
  /// bound to.
  ///
  /// `key` is `nil` if the code or the refresh token is bound to no key.
  func checkKey(
    _ key: String?, of request: SandboxRequest, _ name: String
  ) throws(OAuthFault) {
    guard options.dpop.isOn, let key else { return }
    guard let proven = request.provenKey else {
      throw OAuthFault(
        .invalid("The \(name) is bound to a key, so the request needs a proof."), self)
    }
    guard proven == key else { throw .invalidGrant("The \(name) is bound to another key.") }
  }

  /// Returns the pushed parameters, with the key of the request's proof, if any, in `dpop_jkt`.
  ///
  /// - SeeAlso: RFC 9449, section 10.1
  mutating func addingKey(
    of request: SandboxRequest, to parameters: [SandboxParameter]
  ) throws(OAuthFault) -> [SandboxParameter] {
    do throws(ProofFault) {
      guard let key = try Proofs.key(of: request.provable, for: .authorizationServer, &self) else {
        return parameters
      }
      guard let named = parameters.value("dpop_jkt") else {
        return parameters + [SandboxParameter(name: "dpop_jkt", value: key)]
      }
      guard named == key else { throw .invalid("dpop_jkt names another key than the proof's.") }
      return parameters
    } catch {
      throw OAuthFault(error, self)
    }
  }

  /// Returns the key that an authorization request names in `dpop_jkt`.
  func key(ofSignIn query: [SandboxParameter]) throws(OAuthFault) -> String? {
    guard options.dpop.isOn else { return nil }
    guard let key = query.value("dpop_jkt") else {
      guard !options.dpop.requiresKeyOfSignIn else {
        throw .invalidRequest("dpop_jkt is missing, and no pushed request had a proof.")
      }
      return nil
    }
    guard Crypto.isDigest(key) else {
      throw .invalidRequest("dpop_jkt is not the thumbprint of a key.")
    }
    return key
  }
}

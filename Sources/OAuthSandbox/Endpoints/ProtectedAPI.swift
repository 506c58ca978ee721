import SQBasics
import SQFoundation

/// A small API that requires access tokens and sends the challenges of RFC 6750, section 3.
enum ProtectedAPI {
  /// An accepted access token.
  struct Access: Redacted {
    let text: String
    let token: TokenLedger.AccessToken
    let grant: TokenLedger.Grant
    /// The authentication scheme with which the token was sent.
    let scheme: TokenRefusal.Scheme
  }

  /// Calls `work` if the request has a valid token with the scope, and returns an error answer
  /// otherwise.
  static func authorize(
    _ request: SandboxRequest, scope: String? = nil, _ sandbox: inout SandboxState,
    work: (Access, inout SandboxState) -> Answer
  ) -> Answer {
    do throws(APIFault) {
      return work(try access(request, anyOf: scope.map { [$0] }, &sandbox), &sandbox)
    } catch {
      return error.answer
    }
  }

  /// Checks a request's token, which must be valid and have at least one of `scopes`.
  ///
  /// A token that is bound to a key also needs a proof of this key.
  static func access(
    _ request: SandboxRequest, anyOf scopes: [String]? = nil, _ sandbox: inout SandboxState
  ) throws(APIFault) -> Access {
    guard request.query("access_token") == nil, request.form("access_token") == nil else {
      // In a URL the token would end up in logs (RFC 9700, section 4.3.2).
      throw APIFault(
        TokenRefusal(400, "invalid_request", "Send the token in the field Authorization."))
    }
    let isOfResource = request.endpoint?.isOfResource ?? false
    do throws(TokenRefusal) {
      let access = try access(request.provable, anyOf: scopes, &sandbox)
      if isOfResource { try sandbox.check(access, at: request.path) }
      return access
    } catch {
      throw APIFault(isOfResource ? sandbox.describing(error, at: request.path) : error)
    }
  }

  /// Checks the token and the proof of a request, which may be an HTTP request or a gRPC call.
  static func access(
    _ request: ProvableRequest, anyOf scopes: [String]?, _ sandbox: inout SandboxState
  ) throws(TokenRefusal) -> Access {
    guard sandbox.options.dpop.isOn, let token = request.boundToken else {
      return try access(bearer: request.bearerToken, anyOf: scopes, sandbox)
    }
    return try access(bound: token, request, anyOf: scopes, &sandbox)
  }

  /// Checks a Bearer token, which must be valid and have at least one of `scopes`.
  private static func access(
    bearer token: String?, anyOf scopes: [String]?, _ sandbox: SandboxState
  ) throws(TokenRefusal) -> Access {
    guard let token else {
      // If the request has no token, the challenge only says how to send one (RFC 6750, section
      // 3.1).
      throw TokenRefusal(401, scheme: sandbox.schemes)
    }
    let needsProof = sandbox.options.dpop.policy == .required
    let access = try access(token, scheme: needsProof ? sandbox.schemes : .bearer, sandbox)
    guard !needsProof, access.token.keyThumbprint == nil else {
      throw TokenRefusal(
        401, "invalid_token", "The token needs the scheme DPoP and a proof.",
        scheme: .dpop(sandbox.options.dpop))
    }
    try check(access, anyOf: scopes)
    return access
  }

  /// Checks a token that is bound to a key, and the request's proof.
  ///
  /// - SeeAlso: RFC 9449, section 7.1
  private static func access(
    bound token: String, _ request: ProvableRequest, anyOf scopes: [String]?,
    _ sandbox: inout SandboxState
  ) throws(TokenRefusal) -> Access {
    let scheme = TokenRefusal.Scheme.dpop(sandbox.options.dpop)
    let access = try access(token, scheme: scheme, sandbox)
    let key: String?
    do throws(ProofFault) {
      key = try Proofs.key(of: request, for: .api, token: token, &sandbox)
      if key == nil { throw .invalid("The proof is missing.") }
    } catch {
      throw TokenRefusal(error, sandbox)
    }
    guard access.token.keyThumbprint == key else {
      throw TokenRefusal(
        401, "invalid_token", "The token is not bound to the proof's key.", scheme: scheme)
    }
    try check(access, anyOf: scopes)
    return access
  }

  /// Checks that a token is valid, without checking its scopes or its key.
  static func access(
    _ text: String, scheme: TokenRefusal.Scheme, _ sandbox: SandboxState
  ) throws(TokenRefusal) -> Access {
    guard let (token, grant) = sandbox.ledger.activeAccessToken(text, at: sandbox.now) else {
      throw TokenRefusal(
        401, "invalid_token", "The access token is unknown, expired or revoked.", scheme: scheme)
    }
    return Access(text: text, token: token, grant: grant, scheme: scheme)
  }

  private static func check(_ access: Access, anyOf scopes: [String]?) throws(TokenRefusal) {
    guard let scopes, !scopes.contains(where: access.token.scopes.contains) else { return }
    // Of the sufficient scopes, the first one allows the least.
    throw .insufficientScope(scopes.first, scheme: access.scheme)
  }

  /// Answers `/api/me` with the token's user, scopes and lifetime.
  static func me(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    return authorize(request, &sandbox) { access, state in
      let user = access.grant.user.flatMap(state.user)
      var json: SandboxJSON = [
        "user_name": user.map { .string($0.name) } ?? .null,
        "name": user.map { .string($0.displayName) } ?? .null,
        "client_id": .string(access.grant.clientID),
        "scope": .string(access.token.scopes.joined(separator: " ")),
      ]
      if let expiry = access.token.expiry {
        let seconds = expiry.timeIntervalSince(state.now).rounded(.down)
        json = json.setting("expires_in", to: .integer(Int(seconds)))
          .setting("expires_at", to: .string(expiry.formatted(.iso8601)))
      }
      return Answer(json: json)
    }
  }

  /// Answers `/api/DataSourceList` with the requested lists: sample files and the user's own files.
  ///
  /// The lists of shared files and of apps' files are empty, because the sandbox has neither.
  static func files(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    return authorize(request, scope: "demo", &sandbox) { access, state in
      func wants(_ list: String) -> Bool {
        request.query("all") == "true" || request.query(list) == "true"
      }
      var files = wants("sample") ? SampleFile.all.map(\.json) : []
      if wants("uploaded") {
        let owner = state.openDrive(of: DriveState.Owner(access.grant))
        files += state.drive.files(of: owner).map {
          $0.sequencingJSON(owner: state.name(of: owner))
        }
      }
      return Answer(json: .array(files))
    }
  }
}

extension SandboxState {
  /// Returns the refusal with the address of the API's description in its challenge, if the API has
  /// a description.
  ///
  /// - SeeAlso: RFC 9728, section 5.1
  fileprivate func describing(_ refusal: TokenRefusal, at path: String) -> TokenRefusal {
    guard let address = resourceMetadata(at: path) else { return refusal }
    var refusal = refusal
    refusal.parameters.append(("resource_metadata", address))
    return refusal
  }

  /// The authentication schemes that the API accepts.
  fileprivate var schemes: TokenRefusal.Scheme {
    switch options.dpop.policy {
    case .off: .bearer
    case .accepted: .either(options.dpop)
    case .required: .dpop(options.dpop)
    }
  }
}

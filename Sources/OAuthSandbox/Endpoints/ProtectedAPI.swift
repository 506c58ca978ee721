import SQFoundation

/// A small API that requires access tokens and sends the challenges of RFC 6750, section 3.
enum ProtectedAPI {
  struct Access {
    let token: TokenLedger.AccessToken
    let grant: TokenLedger.Grant
  }

  /// Calls `work` if the request has a valid token with the scope, and returns an error answer
  /// otherwise.
  static func authorize(
    _ request: SandboxRequest, scope: String? = nil, _ sandbox: SandboxState,
    work: (Access) -> Answer
  ) -> Answer {
    do throws(APIFault) {
      return work(try access(request, anyOf: scope.map { [$0] }, sandbox))
    } catch {
      return error.answer
    }
  }

  /// Checks a request's token, which must be valid and have at least one of `scopes`.
  static func access(
    _ request: SandboxRequest, anyOf scopes: [String]? = nil, _ sandbox: SandboxState
  ) throws(APIFault) -> Access {
    guard request.query("access_token") == nil, request.form("access_token") == nil else {
      // In a URL the token would end up in logs (RFC 9700, section 4.3.2).
      throw APIFault(
        TokenRefusal(400, "invalid_request", "Send the token in Authorization."))
    }
    do throws(TokenRefusal) {
      return try access(token: request.bearerToken, anyOf: scopes, sandbox)
    } catch {
      throw APIFault(error)
    }
  }

  /// Checks a token, which must be valid and have at least one of `scopes`.
  static func access(
    token text: String?, anyOf scopes: [String]? = nil, _ sandbox: SandboxState
  ) throws(TokenRefusal) -> Access {
    guard let text else {
      // Without a token in the request, the challenge only says how to send one (section 3.1).
      throw TokenRefusal(401)
    }
    guard let (token, grant) = sandbox.ledger.activeAccessToken(text, at: sandbox.now) else {
      throw TokenRefusal(401, "invalid_token", "The access token expired or was revoked.")
    }
    if let scopes, !scopes.contains(where: token.scopes.contains) {
      // The first scope allows the least of those that suffice.
      throw TokenRefusal(
        403, "insufficient_scope", "The access token does not allow this.", scope: scopes.first)
    }
    return Access(token: token, grant: grant)
  }

  /// Answers `/api/me` with the token's user, scopes and lifetime.
  static func me(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    let state = sandbox
    return authorize(request, state) { access in
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

  /// Answers `/api/DataSourceList` with the sample files and the files in the user's own drive.
  ///
  /// The lists of shared files and of apps' files are empty, because the sandbox has neither.
  static func files(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    var state = sandbox
    let answer = authorize(request, scope: "demo", sandbox) { access in
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
    sandbox = state
    return answer
  }
}

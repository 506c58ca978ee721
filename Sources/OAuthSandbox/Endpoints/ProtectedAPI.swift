#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The small API behind the tokens, with the challenges of RFC 6750, section 3.
enum ProtectedAPI {
  struct Access {
    let token: TokenLedger.AccessToken
    let grant: TokenLedger.Grant
  }

  /// Runs the work of an API when the request carries a valid token with the scope.
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

  /// What a request is allowed, by a valid token with one of the scopes.
  static func access(
    _ request: SandboxRequest, anyOf scopes: [String]? = nil, _ sandbox: SandboxState
  ) throws(APIFault) -> Access {
    guard request.query("access_token") == nil, request.form("access_token") == nil else {
      // In an address it would end up in logs (RFC 9700, section 4.3.2).
      throw APIFault(
        challenge(400, "invalid_request", "The token belongs into Authorization."))
    }
    guard let text = request.bearerToken else {
      // A request without a token is told nothing but how to send one (section 3.1).
      throw APIFault(challenge(401, nil, nil))
    }
    guard let (token, grant) = sandbox.ledger.activeAccessToken(text, at: sandbox.now) else {
      throw APIFault(
        challenge(401, "invalid_token", "The access token expired or was revoked."))
    }
    if let scopes, !scopes.contains(where: token.scopes.contains) {
      // The first is the least that would do.
      throw APIFault(
        challenge(
          403, "insufficient_scope", "The access token does not allow this.", scope: scopes.first))
    }
    return Access(token: token, grant: grant)
  }

  /// `/api/me`: whose token it is, for what, and for how long.
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

  /// `/api/DataSourceList`: the samples, and the files of the user's own drive.
  ///
  /// Nobody shares a file here and no app adds one, so those lists are empty.
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

  /// A refusal with its challenge, and the same as JSON.
  static func challenge(
    _ status: Int, _ code: String?, _ description: String?, scope: String? = nil
  ) -> Answer {
    var value = "Bearer realm=\"sandbox\""
    if let code { value += ", error=\"\(code)\"" }
    if let description { value += ", error_description=\"\(description)\"" }
    if let scope { value += ", scope=\"\(scope)\"" }
    let json: SandboxJSON = code.map { .error($0, description) } ?? [:]
    return Answer(status: status, headers: [("WWW-Authenticate", value)], json: json)
  }
}

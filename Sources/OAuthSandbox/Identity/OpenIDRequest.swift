import SQBasics
import SQFoundation

/// The parameters that OpenID Connect adds to an authorization request.
///
/// `ui_locales`, `claims_locales` and `display` have no effect, because every page has only one
/// version.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1
struct OpenIDRequest: Sendable, Redacted {
  let nonce: String?
  /// The members of `prompt`.
  let prompts: Set<String>
  let maximumAge: Int?
  let loginHint: String?
  let claims: ClaimsRequest
  /// The `sub` of the only user who may sign in; `nil` for any user.
  let subject: String?
  /// The authentication context class, `acr`, of a new sign-in.
  let acr: String
  /// Whether an existing sign-in with another `acr` is rejected.
  let requiresACR: Bool

  init(_ query: [SandboxParameter], _ sandbox: SandboxState) throws(OAuthFault) {
    nonce = query.value("nonce")
    prompts = try Self.prompts(query.value("prompt"))
    maximumAge = try Self.maximumAge(query.value("max_age"))
    claims = try Self.claims(query.value("claims"))
    let hint = try Self.hint(query.value("id_token_hint"), sandbox)
    subject = hint?.subject ?? claims.idToken["sub"]?.texts.first
    loginHint = query.value("login_hint") ?? hint?.grant.user
    let known = sandbox.options.openID.acrValues
    let request = claims.idToken["acr"]
    let wanted = request?.texts ?? query.value("acr_values")?.split(separator: " ").map(String.init)
    let reachable = (wanted ?? []).filter(known.contains)
    requiresACR = request.map { $0.isEssential && $0.values != nil } ?? false
    guard !requiresACR || !reachable.isEmpty else {
      throw OAuthFault(
        code: "unmet_authentication_requirements",
        description: "This server reaches none of the requested acr values.")
    }
    acr = reachable.first ?? known.first ?? "0"
  }

  // MARK: Reading

  private static func prompts(_ parameter: String?) throws(OAuthFault) -> Set<String> {
    let prompts = Set((parameter ?? "").split(separator: " ").map(String.init))
    guard prompts.isSubset(of: MetadataEndpoint.prompts) else {
      throw .invalidRequest("prompt has an unknown value.")
    }
    guard !prompts.contains("none") || prompts.count == 1 else {
      throw .invalidRequest("prompt=none cannot be combined with other values.")
    }
    return prompts
  }

  private static func maximumAge(_ parameter: String?) throws(OAuthFault) -> Int? {
    guard let parameter else { return nil }
    guard let seconds = Int(parameter), seconds >= 0 else {
      throw .invalidRequest("max_age is not a number of seconds.")
    }
    return seconds
  }

  private static func claims(_ parameter: String?) throws(OAuthFault) -> ClaimsRequest {
    guard let parameter else { return ClaimsRequest() }
    guard let claims = ClaimsRequest(parameter) else {
      throw .invalidRequest("claims is not a JSON object of objects.")
    }
    return claims
  }

  private static func hint(
    _ parameter: String?, _ sandbox: SandboxState
  ) throws(OAuthFault) -> IDTokenHint? {
    guard let parameter else { return nil }
    guard let hint = sandbox.idTokenHint(parameter) else {
      throw .invalidRequest("id_token_hint is not an ID token of this server.")
    }
    return hint
  }

  // MARK: Deciding

  /// Returns whether a user may sign in: the user that the request names, or any user if it names
  /// none.
  func accepts(_ user: String, _ sandbox: SandboxState) -> Bool {
    subject.map { $0 == sandbox.subject(of: user) } ?? true
  }

  /// Returns whether a sign-in belongs to the right user and is recent enough.
  func accepts(_ signIn: UserSignIn, _ sandbox: SandboxState) -> Bool {
    guard accepts(signIn.user, sandbox), !prompts.contains("login") else { return false }
    guard let maximumAge else { return true }
    // `max_age=0` has the same meaning as `prompt=login`.
    return maximumAge > 0 && sandbox.now.timeIntervalSince(signIn.date) <= Double(maximumAge)
  }

  /// Returns whether the user must sign in, although the browser may remember a sign-in.
  func mustSignIn(after signIn: UserSignIn?, _ sandbox: SandboxState) -> Bool {
    guard let signIn else { return prompts.contains("login") }
    return !accepts(signIn, sandbox) || !acceptsContext(of: signIn)
  }

  /// Returns whether the `acr` of a sign-in suffices.
  func acceptsContext(of signIn: UserSignIn) -> Bool {
    !requiresACR || claims.idToken["acr"]?.texts.contains(signIn.acr) ?? false
  }

  /// Whether the ID token must contain `auth_time`.
  var wantsAuthenticationTime: Bool {
    maximumAge != nil || claims.idToken["auth_time"] != nil
  }
}

import SQBasics

/// A redirect of the browser back to the app, with the request's `state`.
struct RedirectBack: Redacted {
  let redirectURI: String
  let state: String?
  private var mode = ResponseMode.query
  /// The client whose app gets the redirect.
  private let client: SandboxClient

  /// Creates a redirect to a given address of the app, such as after a logout.
  init(redirectURI: String, state: String?, of client: SandboxClient) {
    self.redirectURI = redirectURI
    self.state = state
    self.client = client
  }

  /// Creates the redirect that a sign-in asks for, and fails if the client has not registered the
  /// redirect URI.
  init?(_ parameters: [SandboxParameter], _ client: SandboxClient, _ sandbox: SandboxState) {
    guard let redirectURI = parameters.value("redirect_uri"),
      RedirectURIs.contains(redirectURI, in: client.redirectURIs)
    else { return nil }
    self.init(redirectURI: redirectURI, state: parameters.value("state"), of: client)
    mode = sandbox.responseMode(of: parameters)
  }

  /// Returns the redirect after an authorization request, with `iss` (RFC 9207).
  ///
  /// If a test has planned a misbehaviour of redirects, it alters the parameters.
  func answer(
    _ parameters: [SandboxParameter], _ sandbox: inout SandboxState
  ) -> Answer {
    let issuer = SandboxParameter(name: "iss", value: sandbox.issuer)
    return answer(parameters + stateParameter + [issuer], .authorization, &sandbox)
  }

  /// Returns the redirect after a logout, with `state` as its only parameter.
  func afterLogout(_ sandbox: inout SandboxState) -> Answer {
    answer(stateParameter, .endSession, &sandbox)
  }

  /// The CSP `form-action` sources of a form whose answer is this redirect; `nil` if CSP cannot
  /// express the redirect's target.
  var formTargets: [String]? { RedirectURIs.formTarget(redirectURI).map { ["'self'", $0] } }

  private var stateParameter: [SandboxParameter] {
    state.map { [SandboxParameter(name: "state", value: $0)] } ?? []
  }

  private func answer(
    _ parameters: [SandboxParameter], _ endpoint: SandboxEndpoint, _ sandbox: inout SandboxState
  ) -> Answer {
    var all = parameters
    if let kind = sandbox.plan.take(endpoint, at: .redirect) {
      all = Self.spoil(all, kind)
    }
    if mode.isSigned { all = ResponseSigner(client: client).sign(all, &sandbox) }
    if mode.isFormPost { return FormPostPage(target: redirectURI, parameters: all).answer }
    let query = all.map { FormCoding.encode($0.name) + "=" + FormCoding.encode($0.value) }
    let separator = query.isEmpty ? "" : redirectURI.contains("?") ? "&" : "?"
    // 303 makes every browser turn the POST of a form into a GET.
    return Answer(
      status: 303,
      headers: [
        ("Location", redirectURI + separator + query.joined(separator: "&")),
        ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
      ], content: .text(""))
  }

  func error(
    _ code: String, _ description: String, _ sandbox: inout SandboxState
  ) -> Answer {
    answer(
      [
        SandboxParameter(name: "error", value: code),
        SandboxParameter(name: "error_description", value: description),
      ], &sandbox)
  }

  private static func spoil(
    _ parameters: [SandboxParameter], _ kind: SandboxMisbehaviour.Kind
  ) -> [SandboxParameter] {
    switch kind {
    case .addToRedirect(let more): parameters + more
    case .alter(let name, let alteration): alter(name, alteration, in: parameters)
    default: parameters
    }
  }

  private static func alter(
    _ name: String, _ alteration: SandboxMisbehaviour.Alteration, in parameters: [SandboxParameter]
  ) -> [SandboxParameter] {
    let right = parameters.value(name) ?? ""
    let values: [String] =
      switch alteration {
      case .wrong: [right.isEmpty ? "wrong" : String(right.dropLast()) + other(than: right.last)]
      case .missing: []
      case .empty: [""]
      case .doubled: [right, right]
      case .value(let value): [value]
      }
    return parameters.filter { $0.name != name }
      + values.map { SandboxParameter(name: name, value: $0) }
  }

  private static func other(than character: Character?) -> String {
    character == "1" ? "2" : "1"
  }
}

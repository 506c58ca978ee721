extension SandboxState {
  /// The session cookie's name, which contains the port because a host's cookies are sent to all
  /// ports.
  var cookieName: String {
    "sandbox-" + (issuer.split(separator: ":").last ?? "").prefix { $0.isNumber }
  }

  func setCookie(_ session: String) -> (name: String, value: String) {
    ("Set-Cookie", "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Lax")
  }
}

extension SandboxRequest {
  /// Returns the value of the sandbox's cookie, or `nil` if the browser sent none.
  func sessionCookie(_ sandbox: SandboxState) -> String? {
    let name = sandbox.cookieName + "="
    for field in headers where field.name == "cookie" {
      for pair in field.value.split(separator: ";") {
        let pair = pair.drop { $0 == " " }
        if pair.hasPrefix(name) { return String(pair.dropFirst(name.count)) }
      }
    }
    return nil
  }

  var isGet: Bool { method == "GET" || method == "HEAD" }

  /// The parameters of a request to an endpoint that accepts GET and POST: the query or the form.
  var parameters: [SandboxParameter] { isGet ? query : form }
}

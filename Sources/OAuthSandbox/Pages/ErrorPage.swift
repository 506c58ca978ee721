import SQBasics
import SQLoopback
import SQLoopbackPages

/// The pages that tell the user and the developer why the browser was not sent back to the app.
enum ErrorPage {
  static func unknownClient(
    _ id: String?, _ sandbox: SandboxState, isLogout: Bool = false
  ) -> Answer {
    let outcome: HTML = isLogout ? "You were not signed out" : "You were not signed in"
    if let id, let fault = sandbox.documents.fault(of: id) {
      return wrongDocument(id, fault, outcome)
    }
    return page(
      "This app is not known here",
      [
        """
        The link that brought you here names no app that is registered, or it is malformed. \
        \(outcome), and nothing was sent anywhere.
        """
      ], [("client_id", id)])
  }

  /// Returns the page for a client whose metadata document is rejected.
  private static func wrongDocument(_ id: String, _ reason: String, _ outcome: HTML) -> Answer {
    page(
      "This app is not known here",
      ["It should describe itself at its address. \(reason) \(outcome)."],
      [("client_id", id)])
  }

  /// Returns the page for a reference to pushed parameters that is unknown, used or expired.
  static func unknownPushedRequest() -> Answer {
    page(
      "This link is no longer valid",
      [
        """
        It was used before, is too old or unknown, or has parameters besides client_id and \
        request_uri. You were not signed in. Start again from the app.
        """
      ])
  }

  /// Returns the page for an authorization request that was not pushed although it must be.
  static func notPushed() -> Answer {
    page(
      "This app's request was not accepted",
      [
        """
        This server accepts only pushed authorization requests: the app must send the parameters \
        of a sign-in to the server before it opens the browser. You were not signed in.
        """
      ])
  }

  /// Returns the page for a signed request that is wrong and names no registered redirect URI.
  static func wrongRequestObject(_ reason: String, _ client: SandboxClient) -> Answer {
    page(
      "This link is not valid",
      [
        """
        The request of <strong>\(client.name)</strong>, or its signature, is not right: \
        \(reason) You were not signed in.
        """
      ], [("client_id", client.id)])
  }

  static func unknownRedirect(_ request: SandboxRequest, _ client: SandboxClient) -> Answer {
    page(
      "This link leads to the wrong place",
      [
        """
        It names no address that <strong>\(client.name)</strong> has registered for the way \
        back. You were not signed in, and nothing was sent there.
        """
      ],
      [("client_id", client.id), ("redirect_uri", request.query("redirect_uri"))])
  }

  /// Returns the page for a logout that would lead to an unregistered address.
  static func unknownLogoutRedirect(
    _ parameters: [SandboxParameter], _ client: SandboxClient?
  ) -> Answer {
    page(
      "This link leads to the wrong place",
      [
        """
        It asks to send you to an address that <strong>\(client?.name ?? "its app")</strong> has \
        not registered for use after a sign-out. Nothing was sent there.
        """
      ],
      [
        ("client_id", client?.id),
        ("post_logout_redirect_uri", parameters.value("post_logout_redirect_uri")),
      ])
  }

  /// Returns the page for a logout request whose `id_token_hint` was not issued to the app.
  static func unknownHint() -> Answer {
    page(
      "This link is not valid",
      ["It names no sign-in of this app that the server knows. You were not signed out."])
  }

  /// Returns the page for a logout with a parameter that came more than once.
  static func repeatedParameter() -> Answer {
    page(
      "This link is not valid",
      ["One of its parameters came more than once. You were not signed out."])
  }

  /// Returns the page for a form or an address that belongs to no sign-in of this browser.
  static func overSignIn() -> Answer {
    page(
      "This sign-in is over",
      ["It was finished, took too long, or began in another browser. Start again from the app."])
  }

  /// Returns the page for a form that came without the sandbox's cookie, which binds it to this
  /// browser.
  ///
  /// The page asks the user to allow cookies, because starting again without cookies would not
  /// help.
  static func noCookie(_ sandbox: SandboxState) -> Answer {
    page(
      "Your browser keeps no cookie",
      [
        """
        A sign-in here needs one cookie of <code>\(sandbox.issuer)</code>, and your browser sent \
        none. Allow cookies for this address, then start again from the app.
        """
      ])
  }

  static func notFound() -> Answer {
    let page = SandboxPage.page(.neutral, "There is nothing here", ["The address is wrong."])
    return Answer(page.response(status: 404, formTargets: []))
  }

  /// Returns the page at the root, which shows a running sandbox's issuer, clients and users.
  static func home(_ sandbox: SandboxState) -> Answer {
    let clients = sandbox.options.clients.map(\.id).joined(separator: ", ")
    let users = sandbox.options.users.map(\.name).joined(separator: ", ")
    let page = SandboxPage.page(
      .success, "The sandbox is running", ["Point an OAuth client at it and sign in."],
      facts([("Issuer", sandbox.issuer), ("Clients", clients), ("Users", users)]))
    return Answer(page.response(formTargets: []))
  }

  private static func page(
    _ heading: String, _ paragraphs: [HTML], _ details: [(String, String?)] = []
  ) -> Answer {
    let page = SandboxPage.page(.failure, heading, paragraphs, facts(details))
    return Answer(page.response(status: 400, formTargets: []))
  }

  private static func facts(_ facts: [(String, String?)]) -> HTML {
    guard !facts.isEmpty else { return .empty }
    let rows = facts.map { name, value -> HTML in
      let value = value.map { String($0.prefix(200)) }
      return "<div><dt>\(name)</dt><dd><code>\(value ?? "missing, or sent twice")</code></dd></div>"
    }
    return "<dl class=\"facts\">\(HTML(rows))</dl>"
  }
}

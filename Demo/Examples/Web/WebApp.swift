import Foundation
import SequencingOAuth

/// What the application answers.
///
/// It keeps nothing in memory, so any process can take any request.
struct WebApp: Sendable {
  /// The address under which browsers know the application.
  let address: String
  let client: ClientConfiguration
  let accounts: AccountManager
  let sealer: WebSignInSealer

  func answer(_ request: Request, _ session: inout Session) async -> Response {
    do {
      switch "\(request.method) \(request.path)" {
      case "GET /": return try await home(&session)
      case "GET /login": return try await login(&session)
      case "GET /callback": return try await callback(request, &session)
      case "POST /logout": return try await logout(&session)
      case "POST /logged-out": return try await loggedOut(request)
      default: return .page(404, "Not found", "There is nothing at this address.")
      }
    } catch {
      return Self.failure(error)
    }
  }

  private func home(_ session: inout Session) async throws -> Response {
    guard let id = session["account"] else {
      return .page(200, "Welcome", "You are not signed in.", link: ("/login", "Sign in"))
    }
    // Loaded for this request, because another process may have changed it since the last one.
    let account = try await accounts.account(client, id: id)
    defer { accounts.release(id: id) }
    guard account.hasAccessToken else {
      session["account"] = nil
      return .page(200, "Goodbye", "You were signed out.", link: ("/login", "Sign in"))
    }
    let user = try await account.userInfo()
    return .page(
      200, "Hello, \(user.name ?? user.subject)", "Process \(getpid()) has loaded this page.",
      form: ("/logout", "Sign out"))
  }

  /// Sends the browser to the provider; what the end of the sign-in needs goes into a cookie.
  private func login(_ session: inout Session) async throws -> Response {
    session.begin()
    let (url, signIn) = try await accounts.beginSignIn(client)
    var response = Response.redirect(to: url.absoluteString)
    response.setCookie("sign-in", to: try sealer.seal(signIn, session: session.id))
    return response
  }

  /// The browser is back; whatever happens, the cookie goes.
  private func callback(_ request: Request, _ session: inout Session) async throws -> Response {
    var response = Response.redirect(to: "/")
    do {
      let signIn = try sealer.open(request.cookies["sign-in"] ?? "", session: session.id)
      let account = try await accounts.finishSignIn(
        signIn, redirect: address + request.target, client)
      // Another name for the session: one that an attacker planted must not be signed in now.
      session.renew()
      session["account"] = account.accountID
    } catch {
      response = Self.failure(error)
    }
    response.removeCookie("sign-in")
    return response
  }

  private func logout(_ session: inout Session) async throws -> Response {
    if let id = session["account"] {
      session["account"] = nil
      let account = try await accounts.account(client, id: id)
      defer { accounts.release(id: id) }
      do {
        try await account.revoke()
      } catch {
        // The user leaves, whether the server can be asked to end the tokens or not.
        try await account.signOut()
      }
    }
    return .redirect(to: "/")
  }

  /// The provider reports that a user has signed out there.
  private func loggedOut(_ request: Request) async throws -> Response {
    try await accounts.handleLogoutToken(request.form["logout_token"] ?? "", for: client)
    return Response(status: 200)
  }

  private static func failure(_ error: any Error) -> Response {
    guard let error = error as? SQOAuthError else {
      return .page(500, "Something went wrong", "Please try again.", link: ("/", "Back"))
    }
    // Without its secrets, for the log.
    SmallServer.log("Failed: \(error)")
    return error.isCancellation
      ? .page(403, "Not signed in", "You did not allow it.", link: ("/login", "Try again"))
      : .page(400, "Not signed in", "Please sign in again.", link: ("/login", "Sign in"))
  }
}

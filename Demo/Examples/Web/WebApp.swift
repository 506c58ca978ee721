import Foundation
import SequencingOAuth
import SequencingOAuthBackend

/// The application's answers to requests.
///
/// It keeps nothing in memory, so any process can take any request.
struct WebApp: Sendable {
  /// The address that browsers use to reach the application.
  let address: String
  let client: ClientConfiguration
  let accounts: AccountManager
  let sealer: WebSignInSealer

  private var cookies: Cookies { Cookies(address: address) }

  func answer(_ request: Request, _ session: inout Session) async -> Response {
    do {
      switch "\(request.method) \(request.path)" {
      case "GET /": return try await home(&session)
      case "GET /login": return try await login(request)
      case "GET /callback": return try await callback(request, &session)
      case "POST /logout": return try await logout(&session)
      case "POST /logged-out": return await loggedOut(request)
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
    // Load the account for each request, because another process may have changed it.
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

  /// Sends the browser to the provider, and stores the unfinished sign-in in a cookie.
  ///
  /// Each sign-in has its own cookie, because several tabs of the browser may have begun sign-ins.
  private func login(_ request: Request) async throws -> Response {
    let (url, signIn) = try await accounts.beginSignIn(client)
    var response = Response.redirect(to: url.absoluteString)
    let browser = request.cookies[cookies.browser] ?? Session.newID()
    response.set(cookies.browser, to: browser, for: .seconds(365 * 86_400), cookies)
    response.set(
      cookies.signIn(signIn.name), to: try sealer.seal(signIn, session: browser),
      for: client.signInTimeout, cookies)
    // A page may send the browser here repeatedly, so the oldest sign-ins are removed.
    for old in request.cookieNames.filter(cookies.isSignIn).dropLast(7) {
      response.remove(old, cookies)
    }
    return response
  }

  /// Finishes the sign-in that the browser's redirect answers, or rejects a forged redirect.
  private func callback(_ request: Request, _ session: inout Session) async throws -> Response {
    // A redirect that answers none of the browser's sign-ins must not end any of them.
    guard let name = WebSignIn.name(inRedirect: request.target).map(cookies.signIn),
      let sealed = request.cookies[name]
    else { return Self.failure(Self.isNotAsked) }
    var response = Response.redirect(to: "/")
    do {
      let signIn = try sealer.open(sealed, session: request.cookies[cookies.browser] ?? "")
      let account = try await accounts.finishSignIn(
        signIn, redirect: address + request.target, client)
      // Renew the session's ID, because an attacker may have planted the old one.
      session.renew()
      session["account"] = account.accountID
    } catch {
      response = Self.failure(error)
    }
    response.remove(name, cookies)
    return response
  }

  private static let isNotAsked = SQOAuthError(
    .stateMismatch,
    "the redirect does not belong to a sign-in that began in this browser; sign in again")

  private func logout(_ session: inout Session) async throws -> Response {
    if let id = session["account"] {
      session["account"] = nil
      let account = try await accounts.account(client, id: id)
      defer { accounts.release(id: id) }
      do {
        try await account.revoke()
      } catch let error where error.code == .sessionReplaced {
        // The user has signed in again elsewhere. That sign-in stays.
      } catch {
        // Sign the user out here even if the server cannot revoke the tokens.
        try await account.signOut()
      }
    }
    return .redirect(to: "/")
  }

  /// Handles the provider's report that a user has signed out there.
  private func loggedOut(_ request: Request) async -> Response {
    do {
      try await accounts.handleLogoutToken(form: request.body, for: client)
      return Response(LogoutTokenResponse())
    } catch {
      SmallServer.log("Failed: \(error)")
      return Response(LogoutTokenResponse(error))
    }
  }

  private static func failure(_ error: any Error) -> Response {
    guard let error = error as? SQOAuthError else {
      return .page(500, "Something went wrong", "Please try again.", link: ("/", "Back"))
    }
    // The error's description contains no secret, so it can be logged.
    SmallServer.log("Failed: \(error)")
    return error.isCancellation
      ? .page(
        403, "Not signed in", "You did not allow it, or took too long.",
        link: ("/login", "Try again"))
      : .page(400, "Not signed in", "Please sign in again.", link: ("/login", "Sign in"))
  }
}

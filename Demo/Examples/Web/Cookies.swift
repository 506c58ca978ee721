/// The names of the application's cookies.
///
/// With https, each name begins with `__Host-`, so that no other host, even in a sibling domain,
/// can set the cookie.
struct Cookies: Sendable {
  let isSecure: Bool

  init(address: String) {
    isSecure = address.hasPrefix("https:")
  }

  private var prefix: String { isSecure ? "__Host-" : "" }

  /// The cookie of the session; the session says who is signed in.
  var session: String { prefix + "session" }
  /// The cookie with a random value, kept for a year, that binds sign-ins to the browser.
  var browser: String { prefix + "browser" }

  /// Returns the cookie of an unfinished sign-in.
  func signIn(_ name: String) -> String { prefix + "sign-in-" + name }

  func isSignIn(_ cookie: String) -> Bool { cookie.hasPrefix(signIn("")) }

  /// The attributes after the name and the value.
  var attributes: String { "; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "") }
}

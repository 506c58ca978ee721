/// The names of the application's cookies.
///
/// Behind https each begins with `__Host-`, so that no other host, such as one of a sibling domain,
/// can plant it.
struct Cookies: Sendable {
  let isSecure: Bool

  init(address: String) {
    isSecure = address.hasPrefix("https:")
  }

  private var prefix: String { isSecure ? "__Host-" : "" }

  /// The session: who is signed in.
  var session: String { prefix + "session" }
  /// A random text that is the browser's for good, to which its sign-ins are bound.
  var browser: String { prefix + "browser" }

  /// A sign-in that is under way.
  func signIn(_ name: String) -> String { prefix + "sign-in-" + name }

  func isSignIn(_ cookie: String) -> Bool { cookie.hasPrefix(signIn("")) }

  /// What is written after the name and the value.
  var attributes: String { "; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "") }
}

/// Who listens for the redirect that ends a sign-in.
///
/// Without a choice it is the SDK where it can be: at an http redirect URI, which is always on a
/// loopback address. Redirects to any other URI reach the app.
public enum RedirectReceiver: Sendable, Hashable {
  /// The SDK opens the port of a loopback redirect URI from just before the browser opens until the
  /// sign-in ends, and shows the user a last page.
  ///
  /// - SeeAlso: RFC 8252, section 7.3
  case sdk
  /// The app receives the redirect and passes its URL to ``SQOAuth/handleRedirect(_:)-(URL)``.
  ///
  /// At an http redirect URI this is an app whose own web server listens on that port, which must
  /// stand in the URI: `http://localhost:8080/callback`. The SDK opens no port then, and the app
  /// answers the browser. Let the server listen on loopback addresses only, and for `localhost` on
  /// both of them, 127.0.0.1 and ::1: another program that has the port at one of them could receive
  /// the code.
  case app
}

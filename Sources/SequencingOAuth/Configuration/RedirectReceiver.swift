/// The part of the program that listens for the redirect that ends a sign-in.
///
/// If the app does not choose, the SDK listens at an http redirect URI, which is always on a
/// loopback address, and the app receives redirects to any other URI.
public enum RedirectReceiver: Sendable, Hashable {
  /// The SDK listens on the port of a loopback redirect URI and then shows the user a last page.
  ///
  /// It opens the port just before the browser opens, and closes it when the sign-in ends.
  ///
  /// - SeeAlso: RFC 8252, section 7.3
  case sdk
  /// The app receives the redirect and passes its URL to ``SQOAuth/handleRedirect(_:)-(URL)``.
  ///
  /// Use this with an http redirect URI if the app's own web server listens on that port. The port
  /// must stand in the URI: `http://localhost:8080/callback`. The SDK then opens no port, and the
  /// app answers the browser. Let the server listen on loopback addresses only, and for `localhost`
  /// on both of them, 127.0.0.1 and ::1: another program that has the port at one of them could
  /// receive the code.
  case app
}

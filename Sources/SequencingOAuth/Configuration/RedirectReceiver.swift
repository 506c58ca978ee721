/// The part of the program that listens for the redirect that ends a sign-in.
///
/// By default, the SDK listens for redirects to an http URI, which is always on a loopback address,
/// and the app receives redirects to any other URI.
public enum RedirectReceiver: Sendable, Hashable {
  /// The SDK listens on the port of a loopback redirect URI, and shows the user a final page.
  ///
  /// It opens the port just before the browser opens, and closes it when the sign-in ends.
  ///
  /// - SeeAlso: RFC 8252, section 7.3
  case sdk
  /// The app gets the redirect and passes it to ``AccountOperations/handleRedirect(_:)-(URL)``.
  ///
  /// Use this with an http redirect URI if the app's own web server listens on that port. The URI
  /// must contain the port: `http://localhost:8080/callback`. The SDK then opens no port, and the
  /// app answers the browser. Let the server listen on loopback addresses only. For `localhost`,
  /// listen on both, 127.0.0.1 and ::1; otherwise another program that listens on the port at the
  /// other address could receive the code.
  case app
}

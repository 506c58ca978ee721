/// The receiver of the redirect at the end of a sign-in: the SDK or the app.
///
/// By default, the SDK receives redirects to an http URI, and the app receives redirects to any
/// other URI. An http URI always has a loopback address.
public enum RedirectReceiver: Sendable, Hashable {
  /// The SDK listens on the port of a loopback redirect URI, and shows the user a final page.
  ///
  /// It opens the port just before the browser opens, and closes it when the sign-in ends.
  ///
  /// - SeeAlso: RFC 8252, section 7.3
  case sdk
  /// The app gets the redirect and passes it to ``AccountOperations/handleRedirect(_:)-(URL)``.
  ///
  /// Use this case with an http redirect URI if the app's own web server listens on the URI's port.
  /// The URI must contain the port: `http://localhost:8080/callback`. The SDK then opens no port,
  /// and the app answers the browser. Let the server listen on loopback addresses only. For
  /// `localhost`, let it listen on both 127.0.0.1 and ::1; otherwise another program that listens
  /// on the port at the other address could receive the code.
  case app
}

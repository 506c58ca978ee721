import SQCrypto
public import SQFoundation
import SequencingOAuth

// The name of a sign-in; the application uses it to find the sign-in when the browser returns.
extension WebSignIn {
  /// A name for the sign-in that reveals nothing about it: 22 characters of base64url.
  ///
  /// A browser may have several sign-ins at the same time, one in each tab. Store each under this
  /// name, for example in a separate cookie, and find it again by ``name(inRedirect:)``. This way,
  /// a new sign-in does not replace the others. A forged redirect finds no sign-in and cannot end
  /// one, because the name is computed from the `state`, and only the application, the browser and
  /// the authorization server know the `state`.
  public var name: String { Self.name(ofState: request.state) }

  /// Returns the name of a redirect's sign-in; `nil` if the redirect has no `state`.
  ///
  /// `redirect` is the URL that the browser requested, or its path and query. The method does not
  /// check the redirect; ``SequencingOAuth/AccountManager/finishSignIn(_:redirect:_:id:)`` does.
  public static func name(inRedirect redirect: String) -> String? {
    let query = redirect.utf8.prefix { $0 != UInt8(ascii: "#") }
      .drop { $0 != UInt8(ascii: "?") }.dropFirst()
    // A signed response (JARM) contains the `state` as a claim of its JWT.
    let state = AuthorizationResponse.state(in: CodeRequest.parameters(in: Substring(query)))
    return state.flatMap { $0.isEmpty ? nil : name(ofState: $0) }
  }

  /// Returns the name of a posted response's sign-in; `nil` if the response has no `state`.
  public static func name(inForm form: Data) -> String? {
    PostedRedirect.url(form: form, at: "").flatMap(name(inRedirect:))
  }

  private static func name(ofState state: String) -> String {
    Base64URL.encode(Digest.sha256(Data("name of a web sign-in\n\(state)".utf8)).prefix(16))
  }
}

import SQCrypto
import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The name by which an application finds a sign-in when the browser is back.
extension WebSignIn {
  /// A name of the sign-in that tells nothing: 22 characters of base64url.
  ///
  /// A browser may have several sign-ins under way, one in each tab. Keep each under this name, for
  /// example in a cookie of its own, and find it again by ``name(inRedirect:)``. Then no sign-in
  /// replaces another one, and a redirect that somebody made up finds none and ends none: only the
  /// browser and the server know the `state` from which the name comes.
  public var name: String { Self.name(ofState: request.state) }

  /// The name of the sign-in that a redirect answers; `nil` if the redirect has no `state`.
  ///
  /// `redirect` is the address that the browser requested, or its path and query. Nothing shows yet
  /// that the redirect is right: ``AccountManager/finishSignIn(_:redirect:_:id:)`` checks it.
  public static func name(inRedirect redirect: String) -> String? {
    let query = redirect.utf8.prefix { $0 != UInt8(ascii: "#") }
      .drop { $0 != UInt8(ascii: "?") }.dropFirst()
    let state = AuthorizationResponse.state(in: FormCoding.mend(Substring(query)))
    return state.flatMap { $0.isEmpty ? nil : name(ofState: $0) }
  }

  /// The name of the sign-in that a posted answer is for; `nil` if the form has no `state`.
  public static func name(inForm form: Data) -> String? {
    PostedRedirect.url(form: form, at: "").flatMap(name(inRedirect:))
  }

  private static func name(ofState state: String) -> String {
    Base64URL.encode(Digest.sha256(Data("name of a web sign-in\n\(state)".utf8)).prefix(16))
  }
}

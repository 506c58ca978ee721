import SQBasics
import SQCrypto

/// An assertion from a source, before it is checked.
///
/// Its signature is not verified: only the server knows the signer's keys.
struct BroughtAssertion: Redacted {
  /// The size of the longest assertion, in bytes.
  static let longest = CompactJWS.maximumSize

  private let text: String

  /// Creates the assertion from the source's text, without the white space at the end.
  ///
  /// Files and the output of commands often end with a line break.
  init(_ text: String) {
    let end = text.utf8.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    self.text = String(text[..<(end.map(text.utf8.index(after:)) ?? text.startIndex)])
  }

  /// Returns the text if it is a signed JSON Web Token for this need, with a digest of its user.
  ///
  /// - Throws: ``SQOAuthError/Code/clientKeyFailed``; no error quotes the text.
  func checked(
    for need: AssertionSource.Need
  ) throws(SQOAuthError) -> (text: String, user: String?) {
    let jws: CompactJWS
    let claims: [String: JSONValue]
    do throws(JWSFailure) {
      jws = try CompactJWS(text)
      claims = try jws.claims()
    } catch {
      throw Self.refused("it \(Self.words(of: error))")
    }
    guard Self.names(in: claims["aud"]).contains(need.audience) else {
      throw Self.refused(
        "it is not for \"\(need.audience.printable)\" (its claim aud); let the platform issue it for "
          + "that audience, or set the provider's assertionAudience")
    }
    let user = Self.user(of: claims, type: jws.type)
    guard need.user == nil || user == need.user else {
      throw Self.refused(
        "it names another user than the one of the account; sign the account's user in again at the "
          + "identity provider, or give the account to the other user: call "
          + "requestAccessTokenByAssertion, or signIn of a ResourceClient",
        cause: SQOAuthError(.idTokenSubject, "the identity provider's grant is another user's"))
    }
    return (text, user)
  }

  /// Returns a digest of the user whom an identity provider's grant (ID-JAG) names; `nil` for any
  /// other assertion.
  ///
  /// A workload's assertion may name another part of the workload each time.
  private static func user(of claims: [String: JSONValue], type: String?) -> String? {
    let types = ["oauth-id-jag+jwt", "application/oauth-id-jag+jwt"]
    guard types.contains(type?.asciiLowercased() ?? ""), let issuer = claims["iss"]?.string,
      let subject = claims["sub"]?.string
    else { return nil }
    return Base64URL.encode(Digest.sha256("\(issuer.utf8.count) \(issuer)\(subject)"))
  }

  private static func names(in audience: JSONValue?) -> [String] {
    switch audience {
    case .string(let name)?: [name]
    case .array(let names)?: names.compactMap(\.string)
    default: []
    }
  }

  private static func refused(_ reason: String, cause: (any Error)? = nil) -> SQOAuthError {
    SQOAuthError(
      .clientKeyFailed, "the assertion from its source was not sent: \(reason)", cause: cause)
  }

  private static func words(of failure: JWSFailure) -> String {
    switch failure {
    case .tooLong: "has more than \(longest) bytes"
    case .encrypted: "is encrypted"
    case .critical: "demands an extension (crit)"
    case .malformed(let reason): "is no signed JSON Web Token: \(reason)"
    default: "is no signed JSON Web Token"
    }
  }

  var description: String { "assertion" }
}

import SQBasics
import SQFoundation

/// The errors for token responses that violate the standard.
///
/// Each says what is wrong with the response. If one of the ``TokenResponseQuirks`` or a parser
/// would make the SDK accept the response, the error names it.
enum TokenResponseFault {
  /// The maximum number of member names that an error lists.
  private static let shownNames = 12

  static func empty(_ response: WebResponse) -> SQOAuthError {
    fault("is empty (status \(response.status))")
  }

  /// Creates the error for a content type other than JSON; the body may still be JSON.
  static func contentType(
    _ response: WebResponse, _ members: [String: JSONValue]?, removing secrets: SentSecrets
  ) -> SQOAuthError {
    let type = MediaType.essence(of: response.headers["Content-Type"])
    let found =
      "has \(MediaType.description(of: response, removing: secrets))"
      + (type == nil ? "" : " instead of JSON")
    if members?["access_token"] != nil { return fault("\(found)\(switchHint("anyContentType"))") }
    if isForm(response) { return fault("\(found), and is a form\(switchHint("formEncoded"))") }
    guard members == nil, type == "text/html" || type == "application/xhtml+xml" else {
      return fault("\(found)\(parserHint)")
    }
    return fault("\(found); check the token endpoint's address")
  }

  /// Creates the error for a response without a usable access token.
  static func accessToken(in fields: [String: JSONValue]) -> SQOAuthError {
    let found = fields["access_token"] ?? .null
    guard found == .null else { return unusable("access_token", found) }
    // Leave out long names: only whole secrets are removed, and a shortened name could hold a part
    // of one. Leave out names without a value: a body that is only a token looks like such a name.
    let short = fields.filter { name, value in
      name != "access_token" && name.utf8.count <= 40 && value != ""
    }.keys.sorted()
    let names = short.prefix(shownNames).map { "\"\($0.printable)\"" }
    guard !names.isEmpty else { return unusable("access_token") }
    let inside = short.first { fields[$0]?["access_token"]?.string != nil }
    guard let inside else {
      return fault(
        "has no usable \"access_token\", but the members \(names.joined(separator: ", "))")
    }
    return fault(
      "has its \"access_token\" only inside the member \"\(inside.printable)\"\(parserHint)")
  }

  static var tokenType: SQOAuthError {
    fault("has no usable \"token_type\"\(switchHint("missingTokenType"))")
  }

  static var boundTokenType: SQOAuthError {
    fault(
      "has a token that is bound to a key (DPoP), but the client did not ask for that; set the "
        + "configuration's tokenBinding")
  }

  /// Creates the error for a token type that the SDK does not know.
  static func tokenType(_ type: String, _ context: TokenResponseContext) -> SQOAuthError {
    let asked = context.isForBoundToken ? "token bound to a key (DPoP)" : "Bearer token"
    let shown = context.secrets.removed(from: type).printable
    return SQOAuthError(
      .invalidResponse,
      "the token type is \"\(shown)\", but a \(asked) was asked for; if this server "
        + "gives its tokens another name, read its answers with a TokenResponseParser of your own "
        + "(ClientEnvironment.tokenResponseParser)")
  }

  /// Creates the error for a field that is not a text or cannot be sent, without showing its value.
  static func unusable(_ field: String, _ value: JSONValue? = nil) -> SQOAuthError {
    let found: String? =
      switch value {
      case nil: nil
      case .string(""): "it is empty"
      case .string: "it has a forbidden character"
      case let value?: "it is \(value.kind) and not a text"
      }
    return fault("has no usable \"\(field)\"\(found.map { ": \($0)" } ?? "")")
  }

  // MARK: What the developer can do

  private static func fault(_ what: String) -> SQOAuthError {
    SQOAuthError(.invalidResponse, "the token response \(what)")
  }

  private static func switchHint(_ quirk: String) -> String {
    "; if this server always answers like this, add .\(quirk) to the provider's tokenResponseQuirks"
  }

  private static let parserHint =
    "; if this server always answers like this, read its answers with a TokenResponseParser of your own "
    + "(ClientEnvironment.tokenResponseParser)"

  private static func isForm(_ response: WebResponse) -> Bool {
    (try? FormMessage.members(of: response.body))?["access_token"] != nil
  }
}

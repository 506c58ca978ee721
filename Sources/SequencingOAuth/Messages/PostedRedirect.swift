package import SQFoundation

/// A redirect whose parameters arrived in the body of a POST request.
///
/// - SeeAlso: OAuth 2.0 Form Post Response Mode
package enum PostedRedirect {
  /// Returns the redirect as a URL with the same parameters in its query.
  ///
  /// Returns `nil` if the body is not a form: a form has only the characters of a query.
  package static func url(form: Data, at redirectURI: String) -> String? {
    guard !form.isEmpty, form.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"#?\"<>".utf8.contains($0) })
    else { return nil }
    return redirectURI + (redirectURI.contains("?") ? "&" : "?")
      + String(decoding: form, as: UTF8.self)
  }
}

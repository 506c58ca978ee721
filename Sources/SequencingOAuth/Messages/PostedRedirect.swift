#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// A redirect whose parameters came in the body of a POST.
///
/// - SeeAlso: OAuth 2.0 Form Post Response Mode
package enum PostedRedirect {
  /// The redirect as the URL that has the same parameters in its query.
  ///
  /// Returns `nil` if the body is no form. Such a form has only the characters of a query.
  package static func url(form: Data, at redirectURI: String) -> String? {
    guard !form.isEmpty, form.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"#?\"<>".utf8.contains($0) })
    else { return nil }
    return redirectURI + (redirectURI.contains("?") ? "&" : "?")
      + String(decoding: form, as: UTF8.self)
  }
}

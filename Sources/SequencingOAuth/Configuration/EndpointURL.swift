import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rule that every address of the back channel and the browser keeps.
///
/// Only https, or http on a loopback address; no user information, no fragment, and nothing but
/// the characters of RFC 3986, so that no two URL parsers see different hosts in one string.
///
/// - SeeAlso: RFC 6749, sections 3.1 and 3.2; RFC 8252, section 8.3
enum EndpointURL {
  /// The URL of an endpoint, or the reason why it cannot be one.
  static func check(_ text: String, name: String) throws(SQOAuthError) -> URL {
    // Of the text itself: a URL of Foundation has repaired a bare bracket or percent sign.
    guard hasOnlyURLCharacters(text), let url = URL(string: text), let target = target(text) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the \(name) is not an absolute http or https URL without user information")
    }
    guard !text.contains("#") else {
      throw SQOAuthError(.invalidConfiguration, "the \(name) has a fragment; leave it out")
    }
    guard target.isSecure || target.isLoopback else {
      throw SQOAuthError(
        .insecureEndpoint,
        "the \(name) uses http; only https is allowed, or http on a loopback address")
    }
    return url
  }

  private static func target(_ text: String) -> RequestTarget? {
    try? RequestTarget(text: text)
  }

  /// Unreserved, reserved and `%`; nothing that a lenient parser would repair.
  ///
  /// - SeeAlso: RFC 3986, section 2
  static func hasOnlyURLCharacters(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        $0.isAlphanumeric || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains($0)
      }
  }
}

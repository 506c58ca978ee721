import SQBasics
package import SQFoundation

/// The rule for the addresses of endpoints, issuers and other servers in configurations, metadata
/// and responses.
///
/// An address is https, or http on a loopback address. It has no user information, no fragment, and
/// only the characters of RFC 3986, so that two URL parsers cannot see different hosts in one text.
///
/// - SeeAlso: RFC 6749, sections 3.1 and 3.2; RFC 8252, section 8.3
package enum EndpointURL {
  /// Returns the URL in a text, or throws the reason why it is not a valid endpoint.
  package static func check(_ text: String, name: String) throws(SQOAuthError) -> URL {
    // Checks the text itself, because Foundation's `URL` repairs a bare bracket or percent sign.
    guard hasOnlyURLCharacters(text), let url = URL(string: text),
      let target = try? RequestTarget(text: text)
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the \(name) must be an absolute http or https URL without user information")
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

  /// Splits a checked URL after its host and port.
  package static func split(_ text: String) -> (root: String, tail: Substring) {
    let scheme = text.prefix { $0 != ":" }
    let rest = text.dropFirst(scheme.count + "://".count)
    let authority = rest.prefix { !"/?".contains($0) }
    return ("\(scheme)://\(authority)", rest.dropFirst(authority.count))
  }

  /// Returns whether a text has only unreserved and reserved characters and `%`, so that no parser
  /// has to repair it.
  ///
  /// - SeeAlso: RFC 3986, section 2
  static func hasOnlyURLCharacters(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        $0.isAlphanumeric || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains($0)
      }
  }
}

public import SQFoundation

/// A server that may get access tokens, as a scheme, a host and a port.
///
/// - SeeAlso: RFC 6454, section 4; RFC 9700, section 2.3
public struct ResourceOrigin: Sendable, Hashable, CustomStringConvertible {
  /// The origin as `https://host:port`, in lower case, with the default port if the URL has none.
  public let description: String

  /// Creates the origin of a URL, such as `https://api.example.com`, with or without a path.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` for http on anything but a loopback address,
  ///   and ``SQOAuthError/Code/malformedRequest`` for a text that is not an http or https URL.
  public init(_ url: String) throws(SQOAuthError) {
    let target = try RequestTarget(text: url)
    guard target.isSecure || target.isLoopback else {
      throw SQOAuthError(
        .insecureEndpoint,
        "the address of the server \(target.authority) uses http; a token goes only to https, or "
          + "to http on a loopback address")
    }
    description = "\(target.isSecure ? "https" : "http")://\(target.authority)"
  }

  /// Returns whether the origin is https on the default port of the host `name`.
  ///
  /// A name that begins with a dot stands for all its subdomains.
  func isOnHost(_ name: String) -> Bool {
    let prefix = "https://"
    let suffix = "\(name):443"
    guard description.hasPrefix(prefix), description.hasSuffix(suffix) else { return false }
    return name.hasPrefix(".") || description.utf8.count == prefix.utf8.count + suffix.utf8.count
  }

  /// Creates the origin of a URL, with or without a path.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` for http on anything but a loopback address,
  ///   and ``SQOAuthError/Code/malformedRequest`` for a URL that is not http or https.
  public init(_ url: URL) throws(SQOAuthError) {
    try self.init(url.absoluteString)
  }
}

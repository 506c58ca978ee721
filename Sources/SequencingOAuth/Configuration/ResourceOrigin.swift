#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server that may see access tokens: scheme, host and port.
///
/// - SeeAlso: RFC 6454, section 4; RFC 9700, section 2.3
public struct ResourceOrigin: Sendable, Hashable, CustomStringConvertible {
  /// `https://host:port`, in lower case and with the port that stands where none is written.
  public let description: String

  /// Reads the origin of a URL: `https://api.example.com`, with or without a path.
  ///
  /// Throws ``SQOAuthError/Code/insecureEndpoint`` for http on anything but a loopback address, and
  /// ``SQOAuthError/Code/malformedRequest`` for what is no http or https URL.
  public init(_ url: String) throws(SQOAuthError) {
    let target = try RequestTarget(text: url)
    guard target.isSecure || target.isLoopback else {
      throw SQOAuthError(
        .insecureEndpoint,
        "\(target.authority) is asked over http; a token goes only to https, or to http on a "
          + "loopback address")
    }
    description = "\(target.isSecure ? "https" : "http")://\(target.authority)"
  }

  /// Whether it is https on its own port, on a host of this name or, for a name that begins with a
  /// dot, on any host below it.
  func isOnHost(_ name: String) -> Bool {
    let prefix = "https://"
    let suffix = "\(name):443"
    guard description.hasPrefix(prefix), description.hasSuffix(suffix) else { return false }
    return name.hasPrefix(".") || description.utf8.count == prefix.utf8.count + suffix.utf8.count
  }

  /// Reads the origin of a URL.
  public init(_ url: URL) throws(SQOAuthError) {
    try self.init(url.absoluteString)
  }
}

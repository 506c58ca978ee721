package import SQLoopback

/// The parts of an `http` URL on a loopback host, neither decoded nor normalized.
package struct LoopbackURL: Sendable, Hashable {
  /// The host in lower case: `127.0.0.1`, `[::1]` or `localhost`.
  package let host: String
  package let port: UInt16
  /// The path and the query, in the form of a request line.
  package let target: String

  /// Parses a URL; fails unless its scheme is `http` and its host is a loopback host.
  ///
  /// It also fails for a URL with user information, and for a character that would change the
  /// request line.
  package init?(_ string: String) {
    guard string.prefix(7).lowercased() == "http://",
      string.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    let authority = string.dropFirst(7).prefix { !"/?#".contains($0) }
    let rest = string.dropFirst(7 + authority.count).prefix { $0 != "#" }
    let name = authority.lowercased()
    guard
      let host = ["127.0.0.1", "[::1]", "localhost"].first(where: {
        name == $0 || name.hasPrefix($0 + ":")
      })
    else { return nil }
    let digits = name.dropFirst(host.count + 1)
    guard let port = name == host ? 80 : UInt16(digits), port > 0,
      digits.allSatisfy({ "0123456789".contains($0) })
    else { return nil }
    self.host = host
    self.port = port
    target = rest.first == "/" ? String(rest) : "/" + rest
  }

  /// The URL's origin: its scheme, host and port (RFC 6454, section 4).
  package var origin: String { "http://\(host):\(port)" }

  /// The loopback address of the host; for `localhost`, the IPv4 address.
  package var address: LoopbackAddress { host == "[::1]" ? .ipv6 : .ipv4 }
}

package import SQLoopback

/// The parts of an `http` URL on a loopback host; none of them is decoded or normalised.
package struct LoopbackURL: Sendable, Hashable {
  /// The host in lower case: `127.0.0.1`, `[::1]` or `localhost`.
  package let host: String
  package let port: UInt16
  /// The path and the query, as a request line has them.
  package let target: String

  /// Reads a URL; `nil` for any other scheme or host, and for a URL with user information.
  package init?(_ string: String) {
    guard string.prefix(7).lowercased() == "http://" else { return nil }
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

  /// The scheme, the host and the port, which together distinguish sites.
  package var origin: String { "http://\(host):\(port)" }

  /// The address of the host; `localhost` counts as the IPv4 one.
  package var address: LoopbackAddress { host == "[::1]" ? .ipv6 : .ipv4 }
}

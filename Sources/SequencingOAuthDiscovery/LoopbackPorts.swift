import SQBasics
import SQFoundation
import SequencingOAuth

/// The ports in redirect URIs to a loopback address.
///
/// By RFC 8252, section 7.3, a client may use any port, but many servers compare the port with the
/// registered one. So a program registers a few ports and later uses the first free one of them.
enum LoopbackPorts {
  /// The number of ports to register for a redirect URI without a port.
  static let count = 3
  /// The ports to choose from; systems use higher ones for outgoing connections.
  private static let range: ClosedRange<UInt16> = 20_000...32_000

  /// Returns redirect URIs for a registration, with new ports where the app gave none.
  static func choose(for uris: [String]) -> [String] {
    uris.flatMap { uri -> [String] in
      guard let parts = Portless(uri) else { return [uri] }
      var ports: Set<UInt16> = []
      while ports.count < count { ports.insert(.random(in: range)) }
      return ports.sorted().map(parts.uri(port:))
    }
  }

  /// Returns the redirect URIs of an earlier registration if they are those of the app, apart from
  /// ports that the app left open; otherwise `nil`.
  static func uris(_ asked: [String], as kept: ClientRegistration) -> [String]? {
    var rest = kept.redirectURIs
    for uri in asked {
      let count = rest.count
      if let parts = Portless(uri) {
        rest.removeAll { parts.isWithPort($0) }
      } else {
        rest.removeAll { $0 == uri }
      }
      guard rest.count < count else { return nil }
    }
    return rest.isEmpty ? kept.redirectURIs : nil
  }

  /// A redirect URI to a loopback address without a port.
  private struct Portless {
    let host: String
    let tail: String

    init?(_ uri: String) {
      guard let redirect = try? RedirectURI(uri), redirect.receiver == .sdk else { return nil }
      let scheme = "http://"
      let rest = uri.dropFirst(scheme.count)
      let authority = rest.prefix { !"/?".contains($0) }
      let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority[...]
      guard host == authority, !host.contains(":") || host.hasPrefix("[") else { return nil }
      self.host = scheme + host
      tail = String(rest.dropFirst(authority.count))
    }

    func uri(port: UInt16) -> String { "\(host):\(port)\(tail)" }

    func isWithPort(_ uri: String) -> Bool {
      guard uri.hasPrefix(host + ":"), uri.hasSuffix(tail) else { return false }
      return UInt16(uri.dropFirst(host.count + 1).dropLast(tail.count)) != nil
    }
  }
}

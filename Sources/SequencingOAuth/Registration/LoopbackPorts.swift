import SQBasics
import SQFoundation

/// The ports in redirect URIs to a loopback address.
///
/// By RFC 8252, section 7.3, a client may use any port, but many servers compare the port with the
/// registered one. So a program registers a few ports and later uses the first free one of them.
enum LoopbackPorts {
  /// The number of ports to register for a redirect URI without a port.
  static let count = 3
  /// The ports to choose from; systems use higher ones for outgoing connections.
  private static let range: ClosedRange<UInt16> = 20_000...32_000

  /// Returns redirect URIs for a registration: those of an earlier one if they fit, or else new ones.
  static func uris(_ asked: [String], after kept: ClientRegistration?) -> [String] {
    kept.flatMap { uris(asked, as: $0) } ?? choose(for: asked)
  }

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
      let (root, tail) = EndpointURL.split(uri)
      // Only a bracket or a port has a colon behind that of the scheme.
      guard root.hasSuffix("]") || !root.dropFirst("http:".count).contains(":") else { return nil }
      (host, self.tail) = (root, String(tail))
    }

    func uri(port: UInt16) -> String { "\(host):\(port)\(tail)" }

    func isWithPort(_ uri: String) -> Bool {
      guard uri.hasPrefix(host + ":"), uri.hasSuffix(tail) else { return false }
      return UInt16(uri.dropFirst(host.count + 1).dropLast(tail.count)) != nil
    }
  }
}

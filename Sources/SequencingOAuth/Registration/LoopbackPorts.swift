import SQBasics
import SQFoundation

/// The ports in redirect URIs to a loopback address.
///
/// By RFC 8252, section 7.3, a client may use any port, but many servers compare the port with the
/// registered port. So a program registers a few ports, and later uses the first of these that is
/// free.
package enum LoopbackPorts {
  /// The number of ports to register for a redirect URI without a port.
  static let count = 3
  /// The ports to choose from; systems use higher ports for outgoing connections.
  private static let range: ClosedRange<UInt16> = 20_000...32_000

  /// Returns redirect URIs for a registration: the URIs of an earlier registration if they are
  /// enough, otherwise new URIs.
  ///
  /// With `fixesPorts`, a few copies with a port are added for each loopback URI without a port.
  /// The URI without a port stays, for programs that share the registration and may use any port.
  static func uris(
    _ asked: [String], after kept: ClientRegistration?, fixesPorts: Bool
  ) -> [String] {
    let known = kept.map { $0.askedRedirectURIs ?? $0.redirectURIs }
    if let known, isEnough(known, for: asked, fixesPorts: fixesPorts) {
      // The app's order counts, because a client uses the first URI.
      return asked + known.filter { !asked.contains($0) }
    }
    return fixesPorts ? asked.flatMap(withPorts) : asked
  }

  /// Returns a redirect URI; if it is a loopback URI without a port, copies with random ports
  /// follow.
  private static func withPorts(_ uri: String) -> [String] {
    guard let parts = Portless(uri) else { return [uri] }
    var ports: Set<UInt16> = []
    while ports.count < count { ports.insert(.random(in: range)) }
    return [uri] + ports.sorted().map(parts.uri(port:))
  }

  /// Returns whether the registered redirect URIs contain all of `asked`, and no URI of another
  /// program.
  ///
  /// With `fixesPorts`, they must also contain a copy with a port of each loopback URI without a
  /// port.
  private static func isEnough(
    _ registered: [String], for asked: [String], fixesPorts: Bool
  ) -> Bool {
    let portless = asked.compactMap(Portless.init)
    let isOwn = { (uri: String) in
      asked.contains(uri) || portless.contains { $0.isWithPort(uri) }
    }
    return registered.allSatisfy(isOwn)
      && asked.allSatisfy { registered.contains($0) }
      && (!fixesPorts || portless.allSatisfy { registered.contains(where: $0.isWithPort) })
  }

  /// Returns the redirect URIs for sign-ins: URIs with a port replace the same URI without a port.
  package static func usable(_ registered: [String]) -> [String] {
    registered.filter { uri in
      guard let parts = Portless(uri) else { return true }
      return !registered.contains(where: parts.isWithPort)
    }
  }

  /// A redirect URI to a loopback address without a port.
  private struct Portless {
    let host: String
    let tail: String

    init?(_ uri: String) {
      guard let redirect = try? RedirectURI(uri), redirect.receiver == .sdk else { return nil }
      let (root, tail) = EndpointURL.split(uri)
      // After the scheme's colon, only an IPv6 address in brackets or a port contains a colon.
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

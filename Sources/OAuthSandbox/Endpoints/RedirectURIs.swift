/// Functions that check a request's `redirect_uri` against the client's registered URIs.
package enum RedirectURIs {
  /// The URI schemes that browsers handle themselves, so no app can receive a redirect there.
  package static let schemesOfBrowsers: Set = [
    "about", "blob", "data", "file", "javascript", "vbscript",
  ]

  /// Returns whether a URI is equal to a registered one, character by character.
  ///
  /// The port of a loopback URI is ignored if the registered URI has no port.
  ///
  /// - SeeAlso: RFC 8252, section 7.3
  static func contains(_ uri: String, in registered: [String]) -> Bool {
    guard !uri.contains("#"), uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
    return registered.contains { $0 == uri || isLoopback($0, fitting: uri) }
  }

  private static func isLoopback(_ registered: String, fitting uri: String) -> Bool {
    guard let known = Loopback(registered), let asked = Loopback(uri), known.port == nil else {
      return false
    }
    return known.host == asked.host && known.rest == asked.rest
  }

  /// The parts of an `http` URI with a loopback host, not percent-decoded.
  private struct Loopback {
    let host: String
    let port: UInt16?
    /// The path and the query.
    let rest: Substring

    init?(_ uri: String) {
      guard
        let host = ["127.0.0.1", "[::1]", "localhost"].first(where: {
          uri.hasPrefix("http://\($0)")
        })
      else { return nil }
      let behindHost = uri.dropFirst("http://".count + host.count)
      self.host = host
      guard behindHost.first == ":" else {
        guard behindHost.first.map({ $0 == "/" || $0 == "?" }) ?? true else { return nil }
        port = nil
        rest = behindHost
        return
      }
      let digits = behindHost.dropFirst().prefix { $0.isASCII && $0.isNumber }
      guard let number = UInt16(digits), number > 0 else { return nil }
      port = number
      rest = behindHost.dropFirst(1 + digits.count)
      guard rest.first.map({ $0 == "/" || $0 == "?" }) ?? true else { return nil }
    }
  }

  /// Returns the CSP `form-action` source that lets a form redirect to `uri`.
  ///
  /// Returns `nil` if no CSP source can match the URI, as with an IPv6 address.
  static func formTarget(_ uri: String) -> String? {
    let allowed = uri.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
    guard uri.hasPrefix("http://") || uri.hasPrefix("https://") else { return allowed + ":" }
    let authority = uri.dropFirst(allowed.count + 3).prefix { $0 != "/" && $0 != "?" }
    let isPlain = authority.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || ".-:".contains($0))
    }
    return isPlain ? "\(allowed)://\(authority)" : nil
  }
}

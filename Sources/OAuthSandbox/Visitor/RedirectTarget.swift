import SQLoopback

/// The target of a redirect that the visitor gets.
enum RedirectTarget {
  /// Another page of the same server.
  case sameServer(LoopbackURL)
  /// A program that listens on a loopback address, which the visitor sends a request to.
  case listener(LoopbackURL, redirect: String)
  /// An app that the system opens, or an app with an `https` redirect URI.
  case app(redirect: String)

  /// Parses a `Location` field.
  ///
  /// - Throws: ``SandboxError/notLoopback(_:)`` if it leads to a server that is not on this
  ///   computer.
  init(
    _ location: String, from url: LoopbackURL, start: LoopbackURL
  ) throws(SandboxError) {
    let target = location.hasPrefix("/") ? url.origin + location : location
    if let url = LoopbackURL(target) {
      self = url.origin == start.origin ? .sameServer(url) : .listener(url, redirect: target)
    } else if Self.isApp(target, for: start.query) {
      self = .app(redirect: target)
    } else {
      throw .notLoopback(Self.origin(of: target))
    }
  }

  /// Returns whether an address belongs to an app.
  ///
  /// Its scheme must be the app's own, or it must be the `https` redirect URI of the authorization
  /// request, which may be a claim of a signed request (RFC 9101). Only the server knows the
  /// redirect URI of a pushed request (RFC 9126), so for such a request every `https` address
  /// counts.
  private static func isApp(_ target: String, for request: [SandboxParameter]) -> Bool {
    switch scheme(of: target) {
    case "", "http": return false
    case "https":
      if request.value("request_uri") != nil { return true }
      let signed = request.value("request").flatMap { ReceivedJWT($0)?.text("redirect_uri") }
      let uris = [signed, request.value("redirect_uri"), request.value("post_logout_redirect_uri")]
      return uris.compactMap(\.self).contains { uri in
        target.hasPrefix(uri)
          && target.dropFirst(uri.count).first.map { "?&#".contains($0) } ?? true
      }
    default: return true
    }
  }

  private static func scheme(of address: String) -> String {
    guard let colon = address.firstIndex(of: ":") else { return "" }
    return address[..<colon].lowercased()
  }

  /// Returns the scheme and host of an address, without the rest, which may contain a code or a
  /// `state`.
  static func origin(of address: String) -> String {
    let scheme = scheme(of: address)
    guard let start = address.firstRange(of: "://") else { return scheme + ":" }
    let authority = address[start.upperBound...].prefix { !"/?#\\".contains($0) }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    return "\(scheme)://\(host)"
  }
}

extension LoopbackURL {
  /// The decoded parameters of the query; empty if the query is malformed.
  var query: [SandboxParameter] {
    let query = target.drop { $0 != "?" }.dropFirst()
    return FormCoding.decode(String(query)) ?? []
  }
}

extension SandboxVisitor {
  /// Returns the values in an address that no error may repeat, both decoded and encoded.
  static func secrets(in address: String) -> [String] {
    let query = address.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    let secrets = (FormCoding.decode(String(query)) ?? []).filter {
      // A text of fewer than 4 bytes is not a secret, and its removal would damage words.
      ["code", "state", "id_token_hint", "response", "request"].contains($0.name)
        && $0.value.utf8.count >= 4
    }
    return secrets.flatMap { [$0.value, FormCoding.encode($0.value)] }
  }
}

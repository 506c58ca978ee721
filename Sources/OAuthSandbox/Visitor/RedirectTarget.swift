import SQLoopback

/// The place to which a redirect sends the visitor.
enum RedirectTarget {
  /// Another page of the same server.
  case sameServer(LoopbackURL)
  /// A program that listens on a loopback address, and that a request will reach.
  case listener(LoopbackURL, redirect: String)
  /// An app that the system opens, or that receives its `https` redirect itself.
  case app(redirect: String)

  /// Reads a `Location` field; throws if it leads to a server that is not on this computer.
  init(
    _ location: String, from url: LoopbackURL, start: LoopbackURL
  ) throws(SandboxError) {
    let target = location.hasPrefix("/") ? url.origin + location : location
    if let url = LoopbackURL(target) {
      self = url.origin == start.origin ? .sameServer(url) : .listener(url, redirect: target)
    } else if Self.isApp(
      target,
      redirectURI: start.query.value("redirect_uri")
        ?? start.query.value("post_logout_redirect_uri"))
    {
      self = .app(redirect: target)
    } else {
      throw .notLoopback(Self.origin(of: target))
    }
  }

  /// Whether an address belongs to an app: its scheme is the app's own, or it is the `https`
  /// redirect URI of the authorization request.
  private static func isApp(_ target: String, redirectURI: String?) -> Bool {
    switch scheme(of: target) {
    case "", "http": return false
    case "https":
      guard let redirectURI, target.hasPrefix(redirectURI) else { return false }
      return target.dropFirst(redirectURI.count).first.map { "?&#".contains($0) } ?? true
    default: return true
    }
  }

  private static func scheme(of address: String) -> String {
    guard let colon = address.firstIndex(of: ":") else { return "" }
    return address[..<colon].lowercased()
  }

  /// The scheme and the host of an address, which are safe to show; the rest may contain a code or
  /// a state.
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
  /// The values in an address that no error may repeat, both decoded and as they were sent.
  static func secrets(in address: String) -> [String] {
    let query = address.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    let secrets = (FormCoding.decode(String(query)) ?? []).filter {
      // A text of fewer than 4 bytes is no secret, and removing it would damage words.
      ["code", "state", "id_token_hint"].contains($0.name) && $0.value.utf8.count >= 4
    }
    return secrets.flatMap { [$0.value, FormCoding.encode($0.value)] }
  }
}

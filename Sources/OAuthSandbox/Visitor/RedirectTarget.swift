import LoopbackHTTP

/// Where a redirect leads the visitor.
enum RedirectTarget {
  /// To another page of the server.
  case sameServer(LoopbackURL)
  /// To a program that listens on a loopback address and gets the redirect by a request.
  case listener(LoopbackURL, redirect: String)
  /// To an app that the system opens, or that receives `https` itself.
  case app(redirect: String)

  /// Reads a `Location` field; throws where it leads to a server that is not on this computer.
  init(
    _ location: String, from url: LoopbackURL, start: LoopbackURL
  ) throws(SandboxError) {
    let target = location.hasPrefix("/") ? url.origin + location : location
    if let url = LoopbackURL(target) {
      self = url.origin == start.origin ? .sameServer(url) : .listener(url, redirect: target)
    } else if Self.isApp(target, redirectURI: start.query.value("redirect_uri")) {
      self = .app(redirect: target)
    } else {
      throw .notLoopback(Self.origin(of: target))
    }
  }

  /// Whether an address belongs to an app: it has a scheme of its own, or it is the `https`
  /// redirect URI that the authorization request named.
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

  /// Scheme and host of an address, which may be shown: the rest may hold a code or a state.
  static func origin(of address: String) -> String {
    let scheme = scheme(of: address)
    guard let start = address.firstRange(of: "://") else { return scheme + ":" }
    let authority = address[start.upperBound...].prefix { !"/?#\\".contains($0) }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    return "\(scheme)://\(host)"
  }
}

extension LoopbackURL {
  /// The parameters of the query, decoded; none where it is malformed.
  var query: [SandboxParameter] {
    let query = target.drop { $0 != "?" }.dropFirst()
    return FormCoding.decode(String(query)) ?? []
  }
}

extension SandboxVisitor {
  /// The values in an address that no error may repeat, as they are and as they were sent.
  static func secrets(in address: String) -> [String] {
    let query = address.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    let secrets = (FormCoding.decode(String(query)) ?? []).filter {
      // A very short one would blot out words, and is no secret.
      ["code", "state"].contains($0.name) && $0.value.utf8.count >= 4
    }
    return secrets.flatMap { [$0.value, FormCoding.encode($0.value)] }
  }
}

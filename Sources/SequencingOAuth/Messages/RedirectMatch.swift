import SQBasics

/// The comparison of an incoming redirect with the redirect URI of the request.
///
/// Scheme, authority and path must be equal byte for byte, except for the scheme's letter case. The
/// query must begin with the registered query. Nothing is decoded or normalized before the
/// comparison.
///
/// - SeeAlso: RFC 9700, section 4.1; RFC 3986, section 6.2.1
enum RedirectMatch {
  /// Returns the query without the registered part, or `nil` if the redirect does not match.
  static func query(of incoming: String, for registered: String) -> Substring.UTF8View? {
    let incoming = incoming.utf8.prefix { $0 != UInt8(ascii: "#") }
    let (base, query) = split(incoming)
    let (registeredBase, registeredQuery) = split(Substring(registered).utf8)
    guard sameURI(base, registeredBase) else { return nil }
    guard !registeredQuery.isEmpty else { return query }
    guard query.starts(with: registeredQuery) else { return nil }
    let rest = query.dropFirst(registeredQuery.count)
    guard let first = rest.first else { return rest }
    return first == UInt8(ascii: "&") ? rest.dropFirst() : nil
  }

  private static func split(
    _ uri: Substring.UTF8View
  ) -> (base: Substring.UTF8View, query: Substring.UTF8View) {
    let base = uri.prefix { $0 != UInt8(ascii: "?") }
    return (base, uri.dropFirst(base.count + 1))
  }

  private static func sameURI(_ first: Substring.UTF8View, _ second: Substring.UTF8View) -> Bool {
    let firstScheme = first.prefix { $0 != UInt8(ascii: ":") }
    let secondScheme = second.prefix { $0 != UInt8(ascii: ":") }
    return Substring(firstScheme).asciiLowercased() == Substring(secondScheme).asciiLowercased()
      && first.dropFirst(firstScheme.count).elementsEqual(second.dropFirst(secondScheme.count))
  }
}

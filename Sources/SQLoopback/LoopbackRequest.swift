import SQBasics
package import SQFoundation

/// One request whose syntax is checked and whose body is complete, unless the body was left unread.
///
/// The target, the header values and the body are exactly the client's bytes; nothing is decoded.
package struct LoopbackRequest: Sendable, Redacted {
  package let method: String
  /// The request target as the client sent it.
  ///
  /// Most clients send a path that starts with `/`, with or without `?` and a query. A client may
  /// also send this server's whole URL. A client that takes this server for a proxy sends the URL
  /// of a different server or an authority, and OPTIONS may have `*` (RFC 9112, section 3.2).
  package let target: String
  /// The fields in their original order, with names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: Data
  /// The client's port, which differs between connections.
  package let peerPort: UInt16
  /// Whether the body was left unread (``LoopbackAdmission/unread``); ``body`` is then empty.
  package let hasUnreadBody: Bool

  package init(
    method: String, target: String, headers: [(name: String, value: String)] = [],
    body: Data = Data(), peerPort: UInt16 = 0, hasUnreadBody: Bool = false
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.peerPort = peerPort
    self.hasUnreadBody = hasUnreadBody
  }

  /// The path with its query, even if the client sent this server's whole URL.
  ///
  /// A URL whose authority differs from the `Host` field stays unchanged, like any other target.
  /// Handlers treat such targets as unknown paths.
  ///
  /// - SeeAlso: RFC 9112, sections 3.2.1 and 3.2.2
  package var pathAndQuery: String {
    let scheme = "http://"
    guard target.prefix(scheme.utf8.count).lowercased() == scheme else { return target }
    let rest = target.dropFirst(scheme.utf8.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard authority.lowercased() == header("host")?.lowercased() else { return target }
    let path = rest.dropFirst(authority.count)
    return path.hasPrefix("/") ? String(path) : "/" + path
  }

  /// The path up to the first `?`, still percent-encoded.
  package var path: String { String(pathAndQuery.prefix { $0 != "?" }) }

  /// The text after the first `?`, still percent-encoded; `nil` if there is no `?`.
  package var query: String? {
    let text = pathAndQuery
    return text.firstIndex(of: "?").map { String(text[text.index(after: $0)...]) }
  }

  /// Returns the value of a field that occurs exactly once; `nil` if it is absent or repeated.
  package func header(_ name: String) -> String? {
    let values = headers.filter { $0.name == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }
}

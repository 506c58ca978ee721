import SQBasics
package import SQFoundation

/// One request whose syntax is checked and whose body is complete, unless it was left unread.
///
/// The target, the header values and the body are exactly the client's bytes; nothing is decoded.
package struct LoopbackRequest: Sendable, Redacted {
  package let method: String
  /// The request target: a path that starts with `/`, with or without `?` and a query.
  ///
  /// A client may send this server's whole URL instead; that is the same target. A client that
  /// believes this server to be a proxy sends another server's URL or an authority, and OPTIONS may
  /// have `*` (RFC 9112, section 3.2). A handler answers these like any unknown path.
  package let target: String
  /// The target as the client sent it; only a proxy needs it.
  package let sentTarget: String
  /// The fields in their original order, with names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: Data
  /// The client's port, which differs between connections.
  package let peerPort: UInt16
  /// Whether the body was left unread (``LoopbackAdmission/unread``); ``body`` is then empty.
  package let hasUnreadBody: Bool

  package init(
    method: String, target: String, sentTarget: String? = nil,
    headers: [(name: String, value: String)] = [], body: Data = Data(), peerPort: UInt16 = 0,
    hasUnreadBody: Bool = false
  ) {
    self.method = method
    self.target = target
    self.sentTarget = sentTarget ?? target
    self.headers = headers
    self.body = body
    self.peerPort = peerPort
    self.hasUnreadBody = hasUnreadBody
  }

  /// The target up to the first `?`, still percent-encoded.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// The part of the target after the first `?`, still percent-encoded; `nil` if there is no `?`.
  package var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// Returns the value of a field that occurs exactly once; `nil` if it is absent or repeated.
  package func header(_ name: String) -> String? {
    let values = headers.filter { $0.name == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }
}

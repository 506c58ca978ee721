import Basics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// One request as it arrived, after its syntax was checked and its body was read whole.
///
/// Nothing in it is decoded: the target, the header values and the body are the client's bytes.
package struct LoopbackRequest: Sendable, Redacted {
  package let method: String
  /// The request target: a path that starts with `/`, and perhaps `?` and a query.
  ///
  /// A client that takes the server for a proxy sends a URL or an authority, and OPTIONS may have `*`
  /// (RFC 9112, section 3.2). A handler that knows its paths answers them as it answers any other.
  package let target: String
  /// The fields in the order in which they came, with names in lower case.
  package let headers: [(name: String, value: String)]
  package let body: Data
  /// The port of the peer, which tells connections apart.
  package let peerPort: UInt16
  /// Whether the body was left unread, see ``LoopbackAdmission/unread``; ``body`` is empty then.
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

  /// The target up to the first `?`, still percent-encoded.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// What follows the first `?`, still percent-encoded; `nil` without one.
  package var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The value of a field that came exactly once; `nil` when it is absent or came twice.
  package func header(_ name: String) -> String? {
    let values = headers.filter { $0.name == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }
}

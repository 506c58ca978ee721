/// How to treat the body of a request, decided when the request's head has arrived.
package enum LoopbackAdmission: Sendable {
  /// Read the body within the server's limits.
  case ordinary
  /// Read a body of at most this many bytes, which must arrive within this time from now.
  case read(atMost: Int, within: Duration)
  /// Call the handler at once without the body, and close the connection after the answer.
  ///
  /// A client whose request is rejected anyway then need not send its body (RFC 9110, section
  /// 10.1.1).
  case unread
}

extension LoopbackAdmission {
  /// A function that chooses from a request's head how to treat the body; it runs on the server's
  /// thread and must not block.
  package typealias Rule = @Sendable (LoopbackRequest) -> LoopbackAdmission
}

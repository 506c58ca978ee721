/// What to do with the body that a request announces, decided when its head has arrived.
package enum LoopbackAdmission: Sendable {
  /// Read the body within the server's limits.
  case ordinary
  /// Read the body, up to this many bytes; it must arrive within this time from now.
  case read(atMost: Int, within: Duration)
  /// Call the handler at once, without the body; the connection ends with the answer.
  ///
  /// A client whose request would be refused anyway then need not send its body (RFC 9110, section
  /// 10.1.1).
  case unread
}

extension LoopbackAdmission {
  /// Decides from the request's head alone; it runs on the server's thread and must not block.
  package typealias Rule = @Sendable (LoopbackRequest) -> LoopbackAdmission
}

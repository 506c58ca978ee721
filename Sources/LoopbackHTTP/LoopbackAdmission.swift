/// What becomes of a request that announces a body, decided when its head has come.
package enum LoopbackAdmission: Sendable {
  /// The body is read within the server's limits.
  case ordinary
  /// The body is read, up to this many bytes, and must have come within this time of now.
  case read(atMost: Int, within: Duration)
  /// The handler is called at once, and the connection ends with its answer.
  ///
  /// So a request that would be refused anyway need not be sent whole (RFC 9110, section 10.1.1).
  case unread
}

extension LoopbackAdmission {
  /// Decides from the head alone; it runs on the server's thread and must not wait.
  package typealias Rule = @Sendable (LoopbackRequest) -> LoopbackAdmission
}

/// Why a sandbox did not start, or could not be visited.
public enum SandboxError: Error, Sendable, Hashable {
  /// Another program listens on the port.
  case portInUse(UInt16)
  /// The loopback address, or another thing of the system, is not to be had; with its `errno`.
  case system(Int32)
  /// The visitor was sent to something that is not `http` on a loopback address.
  case notLoopback(String)
  /// The visitor did not understand what a server answered.
  case unexpectedAnswer(String)
}

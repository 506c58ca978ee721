import CSQSockets
import SQLibC

/// Functions that wait until standard output or standard error accepts bytes.
///
/// A reader might never read again, and the program must not wait for it after a signal has asked
/// the program to end.
enum OutputWaits {
  /// A pipe that becomes readable when the waits end; `nil` if the system provides none.
  private static let bell: (reading: Int32, writing: Int32)? = {
    var ends: [Int32] = [-1, -1]
    return sq_pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
  }()

  /// How long the program still waits for a reader after ``end()``, in milliseconds.
  private static let grace: Int32 = 1000

  /// Limits every wait to ``grace``: the waits in progress and all future waits.
  static func end() {
    if let bell { write(bell.writing, "!", 1) }
  }

  /// Waits until a descriptor accepts bytes.
  ///
  /// Returns `false` if ``end()`` was called and the descriptor accepts no bytes within ``grace``.
  static func wait(for descriptor: Int32) -> Bool {
    let output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    var polled = [output, pollfd(fd: bell?.reading ?? -1, events: Int16(POLLIN), revents: 0)]
    while poll(&polled, 2, -1) < 0, errno == EINTR {}
    if polled[0].revents != 0 { return true }
    var last = output
    return poll(&last, 1, grace) > 0
  }
}

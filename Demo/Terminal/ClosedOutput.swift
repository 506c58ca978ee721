import SQBasics

/// Whether the reader of standard output has closed the pipe, and what that does to the command.
///
/// The system would end the program at once. A refresh in progress would then spend its refresh
/// token, and the new one would be stored nowhere. So the command is cancelled instead, as by a signal.
/// When it has stored its tokens, ``StandardStreams/endByBrokenPipe()`` ends the program.
enum ClosedOutput {
  private struct State {
    var isNoted = false
    var cancelCommand: (@Sendable () -> Void)?
  }

  private static let state = Locked(State())

  /// Whether a write to standard output has failed because no program reads it any more.
  static var isNoted: Bool { state.withLock(\.isNoted) }

  /// Sets the function that cancels the command, which the first ``note()`` calls.
  static func cancelling(_ cancelCommand: @escaping @Sendable () -> Void) {
    state.withLock { $0.cancelCommand = cancelCommand }
  }

  /// Notes that the reader of standard output has closed the pipe, and cancels the command.
  static func note() {
    let cancelCommand = state.withLock { state in
      defer { state = State(isNoted: true) }
      return state.cancelCommand
    }
    cancelCommand?()
  }
}

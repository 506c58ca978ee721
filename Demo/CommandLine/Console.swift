import SequencingOAuth

/// The output of a command: its result on standard output, its progress, and its errors.
struct Console: Sendable {
  var output = TextStream(descriptor: 1)
  var errors = TextStream(descriptor: 2)
  /// Whether only the result is written to standard output, so that a program can read it.
  var reservesOutput = false
  /// The settings for requests to servers.
  var network = NetworkOptions()
  /// The observer that prints the SDK's events, or why the command waits; `nil` to print neither.
  var observer: ClientObserver?

  /// A copy of this console that writes only the result to standard output.
  var reservingOutput: Console {
    var console = self
    console.reservesOutput = true
    return console
  }

  /// Prints the result or a part of it, and ends the line.
  ///
  /// On a terminal, it removes control characters.
  func result(_ text: String) throws(Failure) {
    try write(Array("\(output.isTerminal ? text.linesOnScreen : text)\n".utf8))
  }

  /// Prints bytes unchanged or, on a terminal, without control characters.
  func content(_ bytes: [UInt8]) throws(Failure) {
    guard output.isTerminal else { return try write(bytes) }
    try write(Array(String(decoding: bytes, as: UTF8.self).contentOnScreen.utf8))
  }

  private func write(_ bytes: [UInt8]) throws(Failure) {
    do throws(TextStream.WriteError) {
      try output.write(bytes)
    } catch {
      if error.isOfClosedPipe { ClosedOutput.note() }
      throw Failure(
        "output_failed", "standard output: \(error)",
        status: error.isOfClosedPipe ? .cancelled : .notAuthorized)
    }
  }

  /// Shows the progress to the user, but never to a program that reads standard output.
  func progress(_ text: String) {
    // The command continues even if the text cannot be written.
    try? progressStream.write(text.linesOnScreen + "\n")
  }

  /// Shows the program's own drawing, with its control sequences for colors.
  func draw(_ drawing: String) {
    try? progressStream.write(drawing + "\n")
  }

  /// The stream that shows the progress.
  var progressStream: TextStream { !reservesOutput && output.isTerminal ? output : errors }

  /// Shows a text that asks the user to act: on standard output or, if the command's result goes
  /// there, on standard error.
  func show(_ text: String) throws(Failure) {
    guard reservesOutput else { return try result(text) }
    try? errors.write(text.linesOnScreen + "\n")
  }

  /// Prints a warning on standard error.
  func warn(_ text: String) {
    try? errors.write("warning: \(text.abbreviated.linesOnScreen)\n")
  }

  /// Prints on standard error why the command failed.
  ///
  /// It prints nothing if the command was cancelled because no program reads standard output.
  func report(_ failure: Failure) {
    guard !ClosedOutput.isNoted || failure.status != .cancelled else { return }
    let lines = failure.lines.map(\.abbreviated).joined(separator: "\n")
    try? errors.write(lines.linesOnScreen + "\n")
  }
}

/// Where a command speaks: its result on standard output, and how it comes about where it fits.
struct Console: Sendable {
  var output = TextStream(descriptor: 1)
  var errors = TextStream(descriptor: 2)
  /// Whether standard output is for the result alone, so that a program can read it.
  var reservesOutput = false

  /// The same console with standard output for the result alone.
  var reservingOutput: Console {
    var console = self
    console.reservesOutput = true
    return console
  }

  /// Prints the result, or a part of it.
  func result(_ text: String) throws(Failure) {
    try write(Array("\(text)\n".utf8))
  }

  /// Prints bytes as they are; for a person, without what a terminal would obey.
  func content(_ bytes: [UInt8]) throws(Failure) {
    guard output.isTerminal else { return try write(bytes) }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
      .map { $0.map(\.printable).joined(separator: "\t") }
    let shown = lines.joined(separator: "\n")
    try write(Array((shown.isEmpty || shown.hasSuffix("\n") ? shown : shown + "\n").utf8))
  }

  private func write(_ bytes: [UInt8]) throws(Failure) {
    do throws(TextStream.WriteError) {
      try output.write(bytes)
    } catch {
      throw Failure("output_failed", "standard output: \(error)", status: .notAuthorized)
    }
  }

  /// Tells a person how far it is; a reader of standard output never sees it.
  func progress(_ text: String) {
    let stream = !reservesOutput && output.isTerminal ? output : errors
    // Nobody may be there to read it, and the work goes on all the same.
    try? stream.write(text + "\n")
  }

  /// Shows something that the person must act on: with the result, unless a program reads that.
  func show(_ text: String) throws(Failure) {
    guard reservesOutput else { return try result(text) }
    try? errors.write(text + "\n")
  }

  /// Tells of something that is not as it should be, and does not end the command.
  func warn(_ text: String) {
    try? errors.write("warning: \(text)\n")
  }

  /// Tells why the command failed.
  func report(_ failure: Failure) {
    try? errors.write(failure.lines.joined(separator: "\n") + "\n")
  }
}

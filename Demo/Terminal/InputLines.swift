import SQLibC

/// The lines of standard input, read only while they are wanted.
///
/// On a terminal, later lines are not read, because they are for another part of the program.
struct InputLines {
  /// The maximum length of a line in bytes; the rest of a longer line is read as the next line.
  private static let maximumBytes = 65_536

  private var buffer: [UInt8] = []
  private var hasEnded = false

  /// Whether standard input is a terminal.
  static var isTerminal: Bool { isatty(0) == 1 }

  /// The maximum length of a line in bytes on a terminal that lets the user edit lines.
  ///
  /// The system drops the rest of a longer line.
  ///
  /// - SeeAlso: termios(3), "Canonical and noncanonical mode"
  static let maximumOfTerminal = 4095

  /// Returns whether standard input is a terminal that has cut a line off.
  static func isCutOff(_ line: String) -> Bool {
    var settings = termios()
    guard line.utf8.count >= maximumOfTerminal, tcgetattr(0, &settings) == 0 else { return false }
    return settings.c_lflag & tcflag_t(ICANON) != 0
  }

  /// Waits for the next line; returns `nil` at the end or when the line is no longer wanted.
  ///
  /// It blocks its thread, and calls `isWanted` several times per second.
  mutating func next(while isWanted: () -> Bool) -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      if hasEnded || buffer.count >= Self.maximumBytes {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
      }
      guard isWanted() else { return nil }
      if !TerminalLoan.read({ read() }) { usleep(200_000) }
    }
  }

  /// Reads the bytes that arrive within 200 milliseconds.
  private mutating func read() {
    var request = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, 200) == 1 else { return }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = systemRead(&bytes)
    if count > 0 {
      buffer += bytes[..<count]
    } else if count == 0 || errno != EINTR {
      hasEnded = true
    }
  }
}

private func systemRead(_ bytes: inout [UInt8]) -> Int {
  read(0, &bytes, bytes.count)
}

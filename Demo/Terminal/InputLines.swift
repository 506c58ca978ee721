import Glibc

/// The lines of standard input, read only as long as they are wanted.
///
/// No line is taken that comes later: it is for another part of the program.
struct InputLines {
  /// The longest line that is read; the rest of a longer one is the next line.
  private static let maximumBytes = 65_536

  private var buffer: [UInt8] = []
  private var hasEnded = false

  /// Whether a person types at standard input.
  static var isTerminal: Bool { isatty(0) == 1 }

  /// Waits for the next line; `nil` at the end of the input, or when it is not wanted any more.
  ///
  /// It blocks its thread, and asks `isWanted` several times in a second.
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

  /// Reads what comes within a moment.
  private mutating func read() {
    var request = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, 200) == 1 else { return }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(0, &bytes, bytes.count)
    if count > 0 {
      buffer += bytes[..<count]
    } else if count == 0 || errno != EINTR {
      hasEnded = true
    }
  }
}

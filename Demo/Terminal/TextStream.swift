import SQBasics
import SQLibC
import Synchronization

/// A file descriptor for output; each write is immediate and complete.
struct TextStream: Sendable {
  let descriptor: Int32

  /// The error of a failed write.
  struct WriteError: Error, CustomStringConvertible {
    /// The system's error number; `nil` if the wait for the reader was ended.
    let errno: Int32?
    /// Whether the reader has closed the pipe.
    var isOfClosedPipe: Bool { errno == EPIPE }
    var description: String {
      errno.map(CLibrary.meaning) ?? "the program that reads it has stopped reading"
    }
  }

  /// The number of bytes that a writable pipe accepts without blocking.
  private static let portion = 4096

  /// Whether the descriptor is a terminal.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The current number of columns and rows of the terminal.
  var size: (columns: Int, rows: Int) {
    // The numbers of a `winsize`: rows, columns, and two numbers of pixels. Swift can use the
    // fields of the type only with an import of the module that declares the type first, and that
    // module is not the same on every system.
    var numbers: [UInt16] = [0, 0, 0, 0]
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &numbers) == 0, numbers[0] > 0, numbers[1] > 0
    else { return (80, 24) }
    return (Int(numbers[1]), Int(numbers[0]))
  }

  /// Writes a whole text.
  ///
  /// It waits for the reader. If a signal asks the program to end, the wait ends too.
  func write(_ text: String) throws(WriteError) {
    try write(Array(text.utf8))
  }

  /// Writes all bytes.
  func write(_ bytes: [UInt8]) throws(WriteError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // Wait here, because a write could block forever.
      guard OutputWaits.wait(for: descriptor) else { throw WriteError(errno: nil) }
      let count = rest.prefix(Self.portion).withUnsafeBytes {
        systemWrite(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR, EAGAIN: continue
      default: throw WriteError(errno: errno)
      }
    }
  }

}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}

/// Functions that prepare standard input, output and error at the start of the program.
enum StandardStreams {
  private static let isInputMissing = Atomic(false)

  /// Whether standard input was closed when the program started; it is empty then.
  static var inputWasClosed: Bool { isInputMissing.load(ordering: .relaxed) }

  /// Opens each standard stream that is closed, and makes writing to a closed pipe fail instead of
  /// ending the program.
  static func prepare() {
    // A file that is opened later could get the number of a closed stream. The output that is meant
    // for the stream would then go to that file.
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
      // Open the stream for reading only, so that printing to it still fails.
      _ = open("/dev/null", O_RDONLY)
      if descriptor == 0 { isInputMissing.store(true, ordering: .relaxed) }
    }
    // Use an empty handler instead of SIG_IGN, which the browser's process would inherit.
    signal(SIGPIPE, ignore)
  }

  /// Ends the program by SIGPIPE, as the system does by default, so that a shell sees the reason.
  static func endByBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    _exit(128 + SIGPIPE)
  }
}

private func ignore(_ signal: Int32) {}

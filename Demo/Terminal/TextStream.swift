import Glibc

/// A file descriptor that text is written to, at once and whole.
struct TextStream: Sendable {
  let descriptor: Int32

  /// A write that failed for another reason than a reader that went away.
  struct WriteError: Error, CustomStringConvertible {
    let errno: Int32
    var description: String { String(cString: strerror(errno)) }
  }

  /// Whether a person sees it.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The columns and rows of the terminal at this moment.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Writes all of a text; ends the program quietly when the reader of a pipe has gone away.
  func write(_ text: String) throws(WriteError) {
    try write(Array(text.utf8))
  }

  /// The same for bytes.
  func write(_ bytes: [UInt8]) throws(WriteError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: waitUntilWritable()
      case EPIPE: StandardStreams.endByBrokenPipe()
      default: throw WriteError(errno: errno)
      }
    }
  }

  /// A terminal or a pipe that someone else made non-blocking.
  private func waitUntilWritable() {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    poll(&request, 1, -1)
  }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}

/// What must hold of standard input, output and error before anything else is done.
enum StandardStreams {
  /// Makes sure that all three are open, and that a write to a closed pipe is an error, not the end.
  static func prepare() {
    // A file opened later would take a closed one's number, and get what is printed.
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
      // Open for reading only, so that printing to it still fails as it should.
      _ = open("/dev/null", O_RDONLY)
    }
    // A handler and not SIG_IGN, which a browser that we start would inherit.
    signal(SIGPIPE, ignore)
  }

  /// Ends as a program does that was never told of SIGPIPE.
  static func endByBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    exit(128 + SIGPIPE)
  }
}

private func ignore(_ signal: Int32) {}

import CSQSockets
import SQBasics
import SQLibC

/// A QR code for a terminal, drawn by the program `qrencode` if it is installed.
enum QRCode {
  /// The maximum time without output from the program, in milliseconds.
  private static let patience: Int32 = 10_000
  /// The queue that waits for the program.
  private static let queue = BlockingQueue("QRCode")

  /// Returns the lines of a QR code, or `nil` if `qrencode` fails, the terminal cannot show the
  /// code, or the code is too wide.
  static func drawing(of text: String, _ appearance: Appearance, columns: Int) async -> String? {
    let style: String
    switch (appearance.glyphs, appearance.colours) {
    // Without colors, the code is right only on a dark background, the most common one.
    case (.unicode, .none): style = "UTF8"
    case (.unicode, _): style = "ANSIUTF8"
    case (_, .none): return nil
    default: style = "ANSI"
    }
    let words = ["qrencode", "-t", style, "-m", "2"]
    guard let drawing = await queue.run({ run(words, input: text) }) else { return nil }
    let lines = drawing.split(separator: "\n")
    guard let widest = lines.map(Self.width).max(), widest <= columns else { return nil }
    return lines.joined(separator: "\n")
  }

  /// Returns the number of characters in a line, without the control sequences for colors.
  private static func width(_ line: Substring) -> Int {
    line.replacing(/\u{1B}\[[0-9;]*m/, with: "").count
  }

  /// Runs a program and returns its output, or `nil` if it fails; blocks the thread.
  ///
  /// The text is sent to its standard input, because every user of the machine can see arguments.
  private static func run(_ words: [String], input: String) -> String? {
    var inputEnds: [Int32] = [-1, -1]
    var outputEnds: [Int32] = [-1, -1]
    guard sq_pipe(&inputEnds) == 0 else { return nil }
    defer { close(inputEnds[0]) }
    guard sq_pipe(&outputEnds) == 0 else {
      close(inputEnds[1])
      return nil
    }
    defer { close(outputEnds[0]) }
    let process = spawn(words, reading: inputEnds[0], writing: outputEnds[1])
    close(outputEnds[1])
    // An address fits into the pipe's buffer, so the write does not block.
    let bytes = Array(input.utf8.prefix(4096))
    let isWritten = process != nil && write(inputEnds[1], bytes, bytes.count) == bytes.count
    close(inputEnds[1])
    guard let process else { return nil }
    let output = isWritten ? readAll(outputEnds[0]) : nil
    if output == nil { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1, errno == EINTR {}
    return status == 0 ? output : nil
  }

  /// Starts a program with an empty environment, because the environment may contain secrets.
  private static func spawn(
    _ words: [String], reading input: Int32, writing output: Int32
  ) -> pid_t? {
    var spawning = sq_spawning()
    posix_spawn_file_actions_init(&spawning.files)
    defer { posix_spawn_file_actions_destroy(&spawning.files) }
    posix_spawn_file_actions_adddup2(&spawning.files, input, 0)
    posix_spawn_file_actions_adddup2(&spawning.files, output, 1)
    posix_spawn_file_actions_addopen(&spawning.files, 2, "/dev/null", O_WRONLY, 0)
    posix_spawnattr_init(&spawning.attributes)
    defer { posix_spawnattr_destroy(&spawning.attributes) }
    #if canImport(Glibc)
      posix_spawn_file_actions_addclosefrom_np(&spawning.files, 3)
    #else
      posix_spawnattr_setflags(&spawning.attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
    #endif
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var process: pid_t = 0
    let result = posix_spawnp(
      &process, words[0], &spawning.files, &spawning.attributes, arguments, &environment)
    return result == 0 ? process : nil
  }

  /// Reads to the end, and returns `nil` if the program sends nothing for too long.
  private static func readAll(_ descriptor: Int32) -> String? {
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, patience) == 1 else { return nil }
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return count == 0 ? String(decoding: output, as: UTF8.self) : nil }
      output += buffer[..<count]
    }
  }
}

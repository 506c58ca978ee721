import Dispatch
import SQLibC

/// A question on the terminal for a passphrase; the typed characters are not shown.
struct PassphrasePrompt: Sendable {
  private static let input: Int32 = 0

  /// The prompt, if standard input and standard error are a terminal.
  static var atTerminal: PassphrasePrompt? {
    isatty(input) == 1 && isatty(2) == 1 ? PassphrasePrompt() : nil
  }

  /// Asks until the answer is not empty.
  func ask(_ question: String, _ console: Console) async throws(Failure) -> Secret {
    while true {
      let answer = try await line(question, console)
      if !answer.isEmpty { return Secret(.passphrase, answer) }
    }
  }

  /// Asks twice for the passphrase of a new store, and returns `nil` if the user gives none.
  ///
  /// `reason` tells the user why the program asks. Without a passphrase, the store's key is kept in
  /// the file at `keyPath`.
  func askForNew(
    because reason: String, keyPath: String, _ console: Console
  ) async throws(Failure) -> Secret? {
    try? console.errors.write(
      "\(reason.onScreen).\nEnter its passphrase, or none to keep its key in the file "
        + "\(keyPath.onScreen).\n")
    while true {
      let answer = try await line("Passphrase: ", console)
      guard !answer.isEmpty else { return nil }
      if try await line("Once more: ", console) == answer { return Secret(.passphrase, answer) }
      try? console.errors.write("The two passphrases differ.\n")
    }
  }

  private enum Answer: Sendable {
    case line([UInt8])
    case end
  }

  private func line(_ question: String, _ console: Console) async throws(Failure) -> String {
    let (answers, continuation) = AsyncStream.makeStream(of: Answer.self)
    let terminal = HiddenInput(Self.input)
    defer { terminal.show() }
    try? console.errors.write(question)
    // The read gets its own thread, because it waits for the user.
    DispatchQueue(label: "sq-demo.passphrase").async {
      continuation.yield(Self.read())
    }
    guard case .line(let bytes) = await answers.first(where: { _ in true }) else {
      // The error message of the failure must start on the line below the question.
      try? console.errors.write("\n")
      throw Failure("cancelled", "no passphrase was given", status: .cancelled)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("the passphrase is not text in UTF-8")
    }
    return text
  }

  /// Reads a line; a terminal returns at most one line per read.
  private static func read() -> Answer {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = readSome(input, &buffer)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return .end }
      return .line(Array(buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }))
    }
  }
}

private func readSome(_ file: Int32, _ buffer: inout [UInt8]) -> Int {
  buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
}

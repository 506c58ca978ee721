import Glibc

/// The standard output of a system program.
enum ToolOutput {
  /// Runs a program to its end, and returns its standard output.
  ///
  /// The words may contain no single quote.
  static func of(_ words: [String]) throws -> String {
    let command = words.map { "'\($0)'" }.joined(separator: " ")
    guard let stream = popen(command + " 2>/dev/null", "r") else {
      throw BenchmarkError("\(words.first ?? "") does not start")
    }
    defer { pclose(stream) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&buffer, 1, buffer.count, stream)
      if count == 0 { return String(decoding: output, as: UTF8.self) }
      output += buffer.prefix(count)
    }
  }
}

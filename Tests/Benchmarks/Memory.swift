import FoundationEssentials

/// What this process takes of the machine's memory.
enum Memory {
  /// The largest resident size so far, in MB.
  static func peak() throws -> Int {
    let status = String(
      decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int($0) })
    else { throw BenchmarkError("no memory figures") }
    return (kilobytes + 512) / 1024
  }
}

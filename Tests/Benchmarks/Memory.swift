import FoundationEssentials

/// What this process takes of the machine's memory.
enum Memory {
  /// The peak, and what of the present size is the process's own rather than code of libraries,
  /// which the system has only once for all processes.
  static func report() throws -> String {
    let peak = try megabytes("VmHWM:")
    let own = try megabytes("RssAnon:")
    return "memory at its peak: \(peak) MB, libraries included; its own: \(own) MB"
  }

  private static func megabytes(_ name: String) throws -> Int {
    let status = try Data(contentsOf: URL(filePath: "/proc/self/status"))
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(name) }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int($0) })
    else { throw BenchmarkError("no memory figures") }
    return (kilobytes + 512) / 1024
  }
}

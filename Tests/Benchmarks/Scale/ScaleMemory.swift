import Charts

/// The chart of the memory of a process with many accounts whose refreshes are scheduled.
enum ScaleMemory {
  static func chart() throws -> Chart {
    var line = Chart.Line("memory", .blue)
    for count in ScaleAccounts.counts {
      let companion = try Companion("/proc/self/exe", [argument, "\(count)"])
      defer { companion.stop() }
      let text = String(decoding: try companion.read(atMost: 64), as: UTF8.self)
      guard let kilobytes = Double(text.filter(\.isNumber)) else {
        throw BenchmarkError("the memory of \(count) accounts: \(text)")
      }
      let bytes = kilobytes * 1024
      print("\(count)  \(line.name)  \(ChartUnit.bytes.text(bytes))")
      line.points.append(Chart.Point(size: Double(count), value: bytes))
    }
    return Chart(
      "Accounts that one process holds", sizes: Chart.Axis("accounts", .count),
      values: Chart.Axis("memory of the process", .bytes), lines: [line])
  }

  // MARK: In the separate process

  /// The argument that makes this program hold accounts; the number of accounts follows it.
  static let argument = "--hold"

  /// Holds the accounts and prints the kilobytes of the process.
  static func report(_ count: String) async throws {
    guard let count = Int(count) else { throw BenchmarkError("\(count) is no number of accounts") }
    print(try await Memory.keepAccounts(count).process)
  }
}

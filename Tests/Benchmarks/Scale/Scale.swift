import Charts
import FoundationEssentials

/// The cost of a call as the number of callers, open calls or accounts grows, for the charts of the
/// documentation.
enum Scale {
  static let word = "scale"

  /// Measures for four minutes, prints the values, and draws the charts into the folder that the
  /// environment variable `PICTURES` names.
  static func run(_ server: ByteServer) async throws {
    guard let folder = ProcessInfo.processInfo.environment["PICTURES"] else {
      throw BenchmarkError("PICTURES names no folder for the charts")
    }
    try draw([try await ScaleCallers.chart(server)], "callers", folder)
    try draw([try await ScaleCalls.chart()], "calls", folder)
    try draw([try await ScaleRecords.chart()], "records", folder)
    let accounts = try await ScaleAccounts.chart()
    try draw([accounts, try ScaleMemory.chart()], "accounts", folder)
  }

  private static func draw(_ charts: [Chart], _ name: String, _ folder: String) throws {
    for theme in ChartTheme.allCases {
      // DocC shows a picture whose name ends with `~dark` on a dark page.
      let file = "\(folder)/scale-\(name)\(theme == .dark ? "~dark" : "").svg"
      try Data(ChartPicture(charts).svg(theme).utf8).write(to: URL(filePath: file))
    }
  }

  /// Returns the error for a missing program; without that program, a chart would lack a line.
  static func missing(_ what: String) -> BenchmarkError {
    BenchmarkError("\(what) is missing for the charts; run Scripts/install test benchmark")
  }

  // MARK: Lines

  /// The operation that is measured for one line of a chart at one size.
  struct Work {
    let line: Chart.Line
    let run: Benchmark.Run
  }

  /// Measures each line's operation at each size, and returns the lines in seconds per operation.
  static func lines(
    at sizes: [Int], _ works: (Int) async throws -> [Work]
  ) async throws -> [Chart.Line] {
    var lines: [Chart.Line] = []
    for size in sizes {
      let works = try await works(size)
      let times = try await secondsInTurns(works.map(\.run), within: .seconds(4))
      for (work, seconds) in zip(works, times) {
        print("\(size)  \(work.line.name)  \(ChartUnit.seconds.text(seconds))")
        let point = Chart.Point(size: Double(size), value: seconds)
        if let place = lines.firstIndex(where: { $0.name == work.line.name }) {
          lines[place].points.append(point)
        } else {
          lines.append(work.line)
          lines[lines.count - 1].points.append(point)
        }
      }
    }
    return lines
  }
}

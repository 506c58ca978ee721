/// Formats results as the rows of a table.
struct Table {
  private static let widths = [38, 33, 14, 12, 12, 8, 8]

  static func header() -> String {
    row(["", "peer", "peer's rate", "ours", "processor", "ratio", "aim"])
  }

  static func row(_ result: Benchmark.Result) -> String {
    row([
      result.name, result.peer, result.peerRate.map(perSecond) ?? "not installed",
      perSecond(result.rate), result.processorTime.map(microseconds) ?? "",
      result.ratio.map(ratio) ?? "", result.aim.map(ratio) ?? "",
    ])
  }

  /// Returns the text of a ratio, such as `1.23×`.
  static func ratio(_ value: Double) -> String {
    fixed(value) + "×"
  }

  private static func microseconds(_ value: Double) -> String {
    value < 100 ? fixed(value) + " µs" : "\(Int(value.rounded())) µs"
  }

  private static func perSecond(_ value: Double) -> String {
    // For small rates, the digits after the point matter.
    value < 100 ? fixed(value) + "/s" : "\(Int(value.rounded()))/s"
  }

  static func fixed(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func row(_ cells: [String]) -> String {
    zip(cells, widths).enumerated().map { index, pair in
      let (cell, width) = pair
      let padding = String(repeating: " ", count: max(0, width - cell.count))
      return index < 2 ? cell + padding : padding + cell
    }.joined(separator: " ")
  }
}

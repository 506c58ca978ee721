import Charts
import SequencingOAuth

/// The chart of records in one store: a file is read and replaced as a whole, a database in parts.
enum ScaleRecords {
  static func chart() async throws -> Chart {
    let files = try StoreBenchmarks()
    defer { files.removeFiles() }
    let lines = try await Scale.lines(at: [10, 100, 1000, 10_000, 100_000]) { count in
      let plain = try FilledFile.plain("\(files.folder)/\(count).json", count)
      let sealed = try FilledFile.sealed("\(files.folder)/\(count).sealed", count)
      return works("file", .blue, plain, count) + works("encrypted", .purple, sealed, count)
        + works(FilledDatabase(folder: files.folder, count: count), count)
    }
    return Chart(
      "Records in one store", sizes: Chart.Axis("records", .count),
      values: Chart.Axis("time of one call", .seconds), lines: lines)
  }

  private static func works(
    _ name: String, _ color: ChartColor, _ store: any TokenStore, _ count: Int
  ) -> [Scale.Work] {
    let operations = max(1, min(100, 10_000 / count))
    return [
      Scale.Work(line: Chart.Line("\(name), save", color)) {
        try await store.saves(operations, of: count)
      },
      Scale.Work(line: Chart.Line("\(name), load", color, isDashed: true)) {
        try await store.loads(operations, of: count)
      },
    ]
  }

  private static func works(_ database: FilledDatabase, _ count: Int) -> [Scale.Work] {
    let page = Scale.Work(line: Chart.Line("SQLite, page of 100", .green, isDashed: true)) {
      try await database.pages(min(50, count / 100))
    }
    return ScaleAccounts.works(database) + (count < 100 ? [] : [page])
  }
}

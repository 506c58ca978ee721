import Charts

/// The chart of accounts in a database: to find one in a million, it reads only few pages.
enum ScaleAccounts {
  static let counts = [100, 1000, 10_000, 100_000, 1_000_000]

  static func chart() async throws -> Chart {
    guard let server = try DatabaseBenchmarks(word: "") else { throw Scale.missing("PostgreSQL") }
    let files = try StoreBenchmarks()
    defer { files.removeFiles() }
    let lines = try await Scale.lines(at: counts) { count in
      works(server.filled("scale_\(count)", count))
        + works(FilledDatabase(folder: files.folder, count: count))
    }
    return Chart(
      "Accounts in a database", sizes: Chart.Axis("accounts", .count),
      values: Chart.Axis("time of one call", .seconds), lines: lines)
  }

  static func works(_ database: FilledDatabase) -> [Scale.Work] {
    [
      Scale.Work(line: Chart.Line("SQLite, save", .orange)) { try await database.saves(saves) },
      Scale.Work(line: Chart.Line("SQLite, load", .orange, isDashed: true)) {
        try await database.loads(loads)
      },
    ]
  }

  private static func works(_ schema: FilledSchema) -> [Scale.Work] {
    [
      Scale.Work(line: Chart.Line("PostgreSQL, save", .green)) { try await schema.saves(saves) },
      Scale.Work(line: Chart.Line("PostgreSQL, load", .green, isDashed: true)) {
        try await schema.loads(loads)
      },
    ]
  }

  private static let saves = 500
  private static let loads = 2000
}

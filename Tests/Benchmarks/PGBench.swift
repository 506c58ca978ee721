import FoundationEssentials

/// PostgreSQL's benchmark program, with the statement of a bare save.
struct PGBench: Sendable {
  let program: String
  let address: String
  /// The size of each saved value in bytes.
  let value: Int

  func saves(_ count: Int, atOnce: Int) throws -> Benchmark.Sample {
    let script = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).sql").path
    defer { try? FileManager.default.removeItem(atPath: script) }
    let sql = BarePostgreSQL.upsert(
      id: "convert_to('account ' || :client_id, 'UTF8')",
      value: "convert_to(repeat('x', \(value)), 'UTF8')")
    try Data("\(sql);\n".utf8).write(to: URL(filePath: script))
    let output = try ToolOutput.of([
      program, "-n", "-M", "prepared", "-c", "\(atOnce)", "-j", "2", "-t",
      "\(count / atOnce)", "-f", script, address,
    ])
    // The rate in this line does not include the time to connect: "tps = 1234.5 (without initial
    // connection time)".
    guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
      let rate = Double(line.dropFirst(6).prefix { $0 != " " })
    else { throw BenchmarkError("pgbench printed no rate") }
    return Benchmark.Sample(operations: count, duration: .seconds(Double(count) / rate))
  }
}

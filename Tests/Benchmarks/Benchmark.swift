/// One line of the table: something of ours beside what it is measured against.
struct Benchmark {
  /// How often `run` did its work, and how long that took.
  struct Sample {
    var operations: Int
    var duration: Duration

    var rate: Double { Double(operations) / (duration / .seconds(1)) }
  }

  typealias Run = @Sendable () async throws -> Sample

  var name: String
  var baseline: Run
  var subject: Run
  /// The ratio of rates that the project aims at.
  var aim: Double?

  /// Measures both in turn, so that whatever else the machine does hits both, and takes medians.
  func measure(rounds: Int) async throws -> Result {
    _ = try await baseline()
    _ = try await subject()
    var baselines: [Double] = []
    var subjects: [Double] = []
    var ratios: [Double] = []
    for round in 0..<rounds {
      let first = round.isMultiple(of: 2)
      var pair = (baseline: 0.0, subject: 0.0)
      if first { pair.baseline = try await baseline().rate }
      pair.subject = try await subject().rate
      if !first { pair.baseline = try await baseline().rate }
      baselines.append(pair.baseline)
      subjects.append(pair.subject)
      ratios.append(pair.subject / pair.baseline)
    }
    return Result(
      name: name, baseline: median(baselines), subject: median(subjects), ratio: median(ratios),
      aim: aim)
  }

  /// What was measured, in operations a second.
  struct Result {
    var name: String
    var baseline: Double
    var subject: Double
    var ratio: Double
    var aim: Double?
  }
}

/// Times a piece of work.
func sample(_ operations: Int, _ work: () async throws -> Void) async rethrows -> Benchmark.Sample {
  let clock = ContinuousClock()
  let start = clock.now
  try await work()
  return Benchmark.Sample(operations: operations, duration: clock.now - start)
}

private func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return 0 }
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2)
    ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

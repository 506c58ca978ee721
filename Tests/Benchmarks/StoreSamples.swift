import SequencingOAuth

/// Calls for the accounts `account 0`, `account 1` and so on of a store, spread over all of them.
extension TokenStore {
  func loads(_ operations: Int, of count: Int) async throws -> Benchmark.Sample {
    try await sample(operations) {
      for number in 0..<operations {
        guard try await load(place(number, of: count)) != nil else {
          throw BenchmarkError("an account is not there")
        }
      }
    }
  }

  func saves(_ operations: Int, of count: Int) async throws -> Benchmark.Sample {
    // The records are created before the measurement, because creating a token of a thousand
    // characters takes as long as a system call. Each record has a new token, because a store may
    // skip an unchanged record.
    let first = Int.random(in: 0..<1_000_000)
    let records = (0..<operations).map { StoreBenchmarks.record(place($0, of: count), first + $0) }
    return try await sample(operations) {
      for record in records { try await save(record) }
    }
  }

  /// Loads pages, beginning with the first, and throws an error if a page is not full.
  func pages(_ operations: Int, of limit: Int) async throws -> Benchmark.Sample {
    try await sample(operations) {
      var last: String?
      for number in 0..<operations {
        let records = try await page(after: last, limit: limit)
        guard records.count == limit else { throw BenchmarkError("a page is short") }
        // Restarts after ten pages, so that 1,000 accounts are enough.
        last = number % 10 == 9 ? nil : records.last?.id
      }
    }
  }

  private func place(_ number: Int, of count: Int) -> String {
    "account \(number * 7919 % count)"
  }
}

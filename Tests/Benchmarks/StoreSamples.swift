import SequencingOAuth

/// Calls for the accounts `account 0`, `account 1` and so on of a store, here and there among them.
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
    // Made beforehand: a thousand characters take as long as a system call. Each has a new token,
    // since a store may leave out what it has already.
    let first = Int.random(in: 0..<1_000_000)
    let records = (0..<operations).map { StoreBenchmarks.record(place($0, of: count), first + $0) }
    return try await sample(operations) {
      for record in records { try await save(record) }
    }
  }

  /// Loads pages from the first on, each of which must be full.
  func pages(_ operations: Int, of limit: Int) async throws -> Benchmark.Sample {
    try await sample(operations) {
      var last: String?
      for number in 0..<operations {
        let records = try await page(after: last, limit: limit)
        guard records.count == limit else { throw BenchmarkError("a page is short") }
        // Ten pages on, so that all are there also in a store of 1,000 accounts.
        last = number % 10 == 9 ? nil : records.last?.id
      }
    }
  }

  private func place(_ number: Int, of count: Int) -> String {
    "account \(number * 7919 % count)"
  }
}

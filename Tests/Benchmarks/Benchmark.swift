import Glibc

/// A row of the printed table: an operation of the SDK (`subject`), compared with a ``Peer``.
struct Benchmark {
  /// The number of operations that a run did, and how long they took.
  struct Sample {
    var operations: Int
    var duration: Duration
    /// The time that this process and its ended children kept processors busy; `nil` if the work
    /// was done elsewhere.
    var processorTime: Duration?

    var rate: Double { Double(operations) / (duration / .seconds(1)) }
  }

  typealias Run = @Sendable () async throws -> Sample

  /// The program or library that an operation is compared with.
  struct Peer {
    var name: String
    /// A function that runs the program or library; `nil` if this machine does not have it.
    var run: Run?

    static func rawCurl(_ run: @escaping Run) -> Peer { Peer(name: "raw libcurl", run: run) }

    static func go(
      _ go: GoPeer?, _ run: @escaping @Sendable (GoPeer) async throws -> Sample
    ) -> Peer {
      guard let go else { return Peer(name: GoPeer.name) }
      return Peer(name: GoPeer.name) { try await run(go) }
    }
  }

  var name: String
  var peer: Peer
  var subject: Run
  /// The project's aim for the ratio of the subject's rate to the peer's rate.
  var aim: Double?

  /// Measures the subject and the peer in turn, so that disturbances of the machine affect both,
  /// and takes medians.
  func measure(rounds: Int) async throws -> Result {
    _ = try await peer.run?()
    _ = try await subject()
    var peers: [Double] = []
    var subjects: [Double] = []
    var ratios: [Double] = []
    var processorTimes: [Double] = []
    for round in 0..<rounds {
      let first = round.isMultiple(of: 2)
      var other: Double?
      if first { other = try await peer.run?().rate }
      let own = try await subject()
      if !first { other = try await peer.run?().rate }
      subjects.append(own.rate)
      if let time = own.processorTime {
        processorTimes.append(time / .microseconds(1) / Double(own.operations))
      }
      guard let other else { continue }
      peers.append(other)
      ratios.append(own.rate / other)
    }
    return Result(
      name: name, peer: peer.name, peerRate: median(peers), rate: median(subjects) ?? 0,
      processorTime: median(processorTimes), ratio: median(ratios), aim: aim)
  }

  /// The measured rates in operations per second.
  struct Result {
    var name: String
    var peer: String
    /// The peer's rate, or `nil` if this machine does not have the peer.
    var peerRate: Double?
    var rate: Double
    /// The microseconds of processor time that an operation of the subject takes.
    var processorTime: Double?
    var ratio: Double?
    var aim: Double?
  }
}

/// Runs and times `work`, which must do the given number of operations.
func sample(_ operations: Int, _ work: () async throws -> Void) async rethrows -> Benchmark.Sample {
  let clock = ContinuousClock()
  let used = processorTime()
  let start = clock.now
  try await work()
  let duration = clock.now - start
  return Benchmark.Sample(
    operations: operations, duration: duration, processorTime: processorTime() - used)
}

/// The time that this process and its ended children have kept processors busy so far.
private func processorTime() -> Duration {
  var time = Duration.zero
  for who in [RUSAGE_SELF, RUSAGE_CHILDREN] {
    var usage = rusage()
    getrusage(who.rawValue, &usage)
    for part in [usage.ru_utime, usage.ru_stime] {
      time += .seconds(part.tv_sec) + .microseconds(part.tv_usec)
    }
  }
  return time
}

/// Returns the median seconds per operation of each run.
///
/// In each round, every run is measured once, so that disturbances of the machine affect all of
/// them. There are nine rounds; after the limit, no round starts, except the first three. An
/// additional first round fills the caches.
func secondsInTurns(
  _ runs: [Benchmark.Run], within limit: Duration = .seconds(60)
) async throws -> [Double] {
  for run in runs { _ = try await run() }
  var seconds = runs.map { _ in [Double]() }
  let end = ContinuousClock.now + limit
  for round in 0..<9 where round < 3 || ContinuousClock.now < end {
    for turn in runs.indices {
      let place = round.isMultiple(of: 2) ? turn : runs.count - 1 - turn
      seconds[place].append(1 / (try await runs[place]().rate))
    }
  }
  return seconds.map { median($0) ?? 0 }
}

func median(_ values: [Double]) -> Double? {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return nil }
  let middle = sorted.count / 2
  return sorted.count.isMultiple(of: 2)
    ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

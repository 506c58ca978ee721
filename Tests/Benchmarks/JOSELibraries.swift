import Glibc

/// Other libraries that validate ID tokens or sign proofs, each in its own process.
struct JOSELibraries: Sendable {
  /// The library's process, or `nil` if this machine does not have the library.
  private let goJOSE: WorkProcess?
  private let joserfc: WorkProcess?

  /// Starts the libraries that the environment names.
  init() throws {
    goJOSE = try Self.path("GO_JOSE_PEER").map { try WorkProcess("go-jose", $0) }
    joserfc = try Self.path("PYTHON_JOSE_PEER").map {
      try WorkProcess("joserfc", "/usr/bin/python3", [$0])
    }
  }

  func stop() {
    goJOSE?.stop()
    joserfc?.stop()
  }

  /// Returns a peer that creates `count` DPoP proofs for a URL.
  func proofs(_ url: String, _ count: Int) -> Benchmark.Peer {
    guard let goJOSE else { return Benchmark.Peer(name: "Go go-jose") }
    return Benchmark.Peer(name: "Go go-jose") {
      let answer = try await goJOSE.ask("proof \(count) \(url)")
      return Benchmark.Sample(operations: count, duration: answer.duration)
    }
  }

  /// Returns peers that each validate the ID token in `text` `count` times.
  func validations(_ text: String, _ count: Int) -> [Benchmark.Peer] {
    [("Go go-jose", goJOSE), ("PyPI joserfc", joserfc)].map { name, process in
      guard let process else { return Benchmark.Peer(name: name) }
      return Benchmark.Peer(name: name) {
        let answer = try await process.ask("\(count) \(text)")
        return Benchmark.Sample(operations: count, duration: answer.duration)
      }
    }
  }

  private static func path(_ variable: String) -> String? {
    getenv(variable).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

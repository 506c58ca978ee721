import FoundationEssentials
import Glibc
import SequencingOAuth

/// The cost of reading a page of an API's records as JSON.
struct JSONBenchmarks: Sendable {
  private static let count = 20
  static let name = "page of 1,000 records"

  private let page: Data
  /// The process of Go's encoding/json, or `nil` if this machine does not have Go.
  private let go: WorkProcess?

  /// Starts Go's encoding/json if `GO_JSON_PEER` names its program.
  init() throws {
    let records = (0..<1000).map { number in
      "{\"id\":\(number),\"name\":\"Record \(number)\",\"size\":\(number * 1024),"
        + "\"modified\":\"2026-11-28T12:00:00Z\",\"tags\":[\"sea\",\"holiday\"],"
        + "\"owner\":{\"name\":\"alice\",\"verified\":true},\"score\":\(Double(number) / 8)}"
    }
    page = Data("{\"items\":[\(records.joined(separator: ","))],\"next\":null}".utf8)
    go = try getenv("GO_JSON_PEER").map { try WorkProcess("encoding/json", String(cString: $0)) }
  }

  func stop() {
    go?.stop()
  }

  func all() -> [Benchmark] {
    [foundation, goPeer].map { peer in
      Benchmark(
        name: Self.name, peer: peer,
        subject: { try await sample(Self.count) { try read(by: Self.ownReader) } }, aim: 1)
    }
  }

  private var foundation: Benchmark.Peer {
    Benchmark.Peer(name: "JSONDecoder") {
      try await sample(Self.count) {
        try read { try JSONDecoder().decode(JSONValue.self, from: $0) }
      }
    }
  }

  private var goPeer: Benchmark.Peer {
    guard let go else { return Benchmark.Peer(name: "Go encoding/json") }
    return Benchmark.Peer(name: "Go encoding/json") {
      let answer = try await go.ask("\(Self.count) \(page.base64EncodedString())")
      return Benchmark.Sample(operations: Self.count, duration: answer.duration)
    }
  }

  private static func ownReader(_ page: Data) throws -> JSONValue {
    try JSONReader.value(of: page, .answer)
  }

  private func read(by reader: (Data) throws -> JSONValue) throws {
    for _ in 0..<Self.count {
      guard try reader(page)["items"].array?.count == 1000 else {
        throw BenchmarkError("the page lacks records")
      }
    }
  }
}

import FoundationEssentials

@testable import SequencingOAuthGRPC

extension Fuzzer {
  /// A fuzzer for a gRPC message that is compressed with gzip.
  static let gzip = Fuzzer("gzip") { input in
    for limit in [0, 100, 64 * 1024] {
      let output: Data
      do throws(RPCCallError) {
        output = try Gzip.decode(input, limit: limit)
      } catch {
        try require(
          [.internal, .resourceExhausted].contains(error.status),
          "a damaged message gives \(error)")
        continue
      }
      try require(output.count <= limit, "\(output.count) bytes where \(limit) are allowed")
      guard let compressed = Gzip.encode(output) else { continue }
      let again = try Gzip.decode(compressed, limit: output.count)
      try require(again == output, "the message comes back different")
    }
    guard let compressed = Gzip.encode(input) else { return }
    let again = try Gzip.decode(compressed, limit: input.count)
    try require(again == input, "the bytes come back different")
    if !input.isEmpty {
      let short = try? Gzip.decode(compressed, limit: input.count - 1)
      try require(short == nil, "the limit does not hold")
    }
  }
}

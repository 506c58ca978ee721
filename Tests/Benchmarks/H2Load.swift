import FoundationEssentials

/// nghttp2's benchmark program, which shows the cost of HTTP/2 without a gRPC call around it.
///
/// The program is written in C++ and adds almost no work of its own, so its rate is the limit for
/// a client that uses nghttp2 on one thread.
struct H2Load: Sendable {
  let program: String
  let url: String
  let message: [UInt8]

  func calls(_ count: Int, atOnce: Int) throws -> Benchmark.Sample {
    let body = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).bin")
    defer { try? FileManager.default.removeItem(at: body) }
    try Data([0, 0, 0, 0, UInt8(message.count)] + message).write(to: body)
    let output = try ToolOutput.of([
      program, "-n", "\(count)", "-c", "1", "-m", "\(atOnce)", "-d", body.path,
      "-H", "content-type: application/grpc", "-H", "te: trailers",
      "-H", "authorization: Bearer access", url,
    ])
    // The output has "finished in 1.41s, 137379.56 req/s, 5.31MB/s" and "status codes: 194000 2xx,
    // …".
    guard output.contains("status codes: \(count) 2xx"),
      let rest = output.split(separator: "finished in ").last,
      let rate = rest.split(separator: ", ").dropFirst().first.flatMap({
        Double($0.prefix { $0 != " " })
      })
    else { throw BenchmarkError("h2load made no calls") }
    return Benchmark.Sample(operations: count, duration: .seconds(Double(count) / rate))
  }
}

import Charts

/// The chart of open gRPC calls on one connection.
enum ScaleCalls {
  static func chart() async throws -> Chart {
    guard let peers = try RPCBenchmarks.start() else { throw Scale.missing("Go's grpc") }
    defer { peers.stop() }
    let channel = try await peers.channel()
    let times = try await Scale.lines(at: [1, 10, 100, 1000, 10_000]) { width in
      // With more open calls, more calls are made, so that each measurement takes about as long.
      let count = width == 1 ? 3000 : width == 10 ? 8000 : 20_000
      guard let goCalls = peers.goCalls(count, width).run else { return [] }
      return [
        Scale.Work(line: Chart.Line("SequencingOAuth", .blue)) {
          try await RPCBenchmarks.calls(channel, count, width: width)
        },
        Scale.Work(line: Chart.Line("grpc-go", .orange, isDashed: true), run: goCalls),
      ]
    }
    return Chart(
      "Open gRPC calls on one connection", sizes: Chart.Axis("open calls", .count),
      values: Chart.Axis("calls per second", .perSecond), lines: times.map(rates))
  }

  private static func rates(_ times: Chart.Line) -> Chart.Line {
    var rates = times
    rates.points = times.points.map { Chart.Point(size: $0.size, value: 1 / $0.value) }
    return rates
  }
}

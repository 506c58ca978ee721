import Charts
import FoundationEssentials

/// The chart of callers that find the token expired at the same time: all wait for one request.
enum ScaleCallers {
  static func chart(_ server: ByteServer) async throws -> Chart {
    guard let go = try GoPeer.start() else { throw Scale.missing(GoPeer.name) }
    defer { go.stop() }
    let url = try server.slowTokenURL
    let lines = try await Scale.lines(at: [1, 10, 100, 1000, 10_000]) { callers in
      [
        Scale.Work(line: Chart.Line("SequencingOAuth", .blue)) {
          try await TokenBenchmarks.countingOnePost(server) {
            try await TokenBenchmarks.storm(url, callers)
          }
        },
        Scale.Work(line: Chart.Line(GoPeer.name, .orange, isDashed: true)) {
          try await TokenBenchmarks.countingOnePost(server) { try await go.storm(callers, url) }
        },
      ]
    }
    return Chart(
      "Callers that find the token expired", sizes: Chart.Axis("callers at once", .count),
      values: Chart.Axis("time until all have the new token; the server takes 20 ms", .seconds),
      lines: lines)
  }
}

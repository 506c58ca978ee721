import FoundationEssentials
import Glibc
import SequencingOAuth
import SequencingOAuthGRPC
import SequencingOAuthPipes

/// Benchmarks of unary gRPC calls with a token, compared with other clients at Go's server, without
/// encryption.
struct RPCBenchmarks {
  private let server: Companion
  private let address: String
  private let go: WorkProcess
  private let python: WorkProcess?

  /// Starts the server and the clients, or returns `nil` if Go's grpc is not installed.
  static func start() throws -> RPCBenchmarks? {
    guard let path = getenv("GO_RPC_PEER").map({ String(cString: $0) }), !path.isEmpty else {
      return nil
    }
    return try RPCBenchmarks(path)
  }

  private init(_ path: String) throws {
    server = try Companion(path, ["serve"])
    let line = String(decoding: try server.read(atMost: 64), as: UTF8.self)
    guard let port = UInt16(line.filter(\.isNumber)) else {
      throw BenchmarkError("the gRPC server: \(line)")
    }
    let address = "127.0.0.1:\(port)"
    self.address = address
    go = try WorkProcess("Go grpc", path, ["call", address])
    python = try getenv("PYTHON_RPC_PEER").map { script in
      try WorkProcess("grpcio", "/usr/bin/python3", [String(cString: script), address])
    }
  }

  func stop() {
    go.stop()
    python?.stop()
    server.stop()
  }

  func all() async throws -> [Benchmark] {
    let channel = try await channel()
    let limit = getenv("H2LOAD").map { program in
      H2Load(
        program: String(cString: program), url: "http://\(address)\(Self.method)",
        message: Self.message)
    }
    return [(1, 2000, 1.0), (64, 12_000, 1.0)].flatMap { width, count, aim -> [Benchmark] in
      let name = width == 1 ? "gRPC call, one after the other" : "gRPC call, \(width) at once"
      let subject: Benchmark.Run = { try await Self.calls(channel, count, width: width) }
      return [
        Benchmark(name: name, peer: goCalls(count, width), subject: subject, aim: aim),
        Benchmark(name: name, peer: Self.peer("grpcio", python, count, width), subject: subject),
        Benchmark(name: name, peer: Self.peer(limit, count, width), subject: subject),
      ]
    }
  }

  /// Returns a channel to the server; each call carries a token.
  func channel() async throws -> RPCChannel {
    let module = try await AuthorizedReads.pipe("http://\(address)").module
    guard let url = URL(string: "http://\(address)") else { throw BenchmarkError("no URL") }
    return try RPCChannel(url: url, credential: .account(module))
  }

  func goCalls(_ count: Int, _ width: Int) -> Benchmark.Peer {
    Self.peer("Go grpc", go, count, width)
  }

  /// Returns the peer that shows the limit: HTTP/2 without a gRPC call around it.
  private static func peer(_ load: H2Load?, _ count: Int, _ width: Int) -> Benchmark.Peer {
    let name = "h2load (limit)"
    guard let load else { return Benchmark.Peer(name: name) }
    return Benchmark.Peer(name: name) { try load.calls(count, atOnce: width) }
  }

  private static func peer(
    _ name: String, _ process: WorkProcess?, _ count: Int, _ width: Int
  ) -> Benchmark.Peer {
    guard let process else { return Benchmark.Peer(name: name) }
    return Benchmark.Peer(name: name) {
      let answer = try await process.ask("\(count) \(width)")
      guard answer.failures == 0 else {
        throw BenchmarkError("\(name): \(answer.failures) of \(count) calls failed")
      }
      return Benchmark.Sample(operations: count / width * width, duration: answer.duration)
    }
  }

  private static let method = "/grpc.testing.TestService/UnaryCall"
  private static let message: [UInt8] = [32, 1, 40, 1]

  static func calls(
    _ channel: RPCChannel, _ count: Int, width: Int
  ) async throws -> Benchmark.Sample {
    let request = Data(message)
    return try await sample(count / width * width) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<width {
          group.addTask {
            for _ in 0..<(count / width) {
              let call = try channel.call(method, request: request)
              guard try await call.response() == request else {
                throw BenchmarkError("another answer")
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

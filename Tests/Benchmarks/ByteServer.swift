import FoundationEssentials
import Glibc

/// A server in its own process that answers every request at once.
///
/// The benchmarks measure the client: the server can serve several times as much as any client here
/// requests.
struct ByteServer {
  private let companion: Companion
  private let port: UInt16

  /// Starts this program again as the server.
  init() throws {
    companion = try Companion("/proc/self/exe", [Self.argument])
    port = UInt16(try Self.number(from: companion))
  }

  /// Where it answers with 1 KB.
  var url: URL { get throws { try url("/data?page=1") } }
  /// Where it answers with a token.
  var tokenURL: URL { get throws { try url("/token") } }
  /// Where it answers with a token 20 ms after it was asked, and answers others meanwhile.
  var farTokenURL: URL { get throws { try url("/far") } }
  /// Where it answers with a token 20 ms after it was asked, and answers nobody meanwhile.
  var slowTokenURL: URL { get throws { try url("/slow") } }
  /// Where it answers with status 503.
  var failingURL: URL { get throws { try url("/failing") } }

  /// How many POST requests it got.
  var posts: Int {
    get throws {
      try companion.write([0])
      return Int(try Self.number(from: companion))
    }
  }

  func stop() {
    companion.stop()
  }

  private func url(_ path: String) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      throw BenchmarkError("no URL")
    }
    return url
  }

  private static func number(from companion: Companion) throws -> UInt32 {
    try companion.read(atMost: 4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// What this program is started with to be the server.
  static let argument = "--serve"
}

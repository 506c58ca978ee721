import FoundationEssentials
import Glibc

/// A server in its own process that answers at once, except at two addresses with a delay.
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

  /// The URL of an answer with 1 KB.
  var url: URL { get throws { try url("/data?page=1") } }
  /// The URL of an answer with a token.
  var tokenURL: URL { get throws { try url("/token") } }
  /// The URL of a token answer after 20 ms; the server answers other requests meanwhile.
  var farTokenURL: URL { get throws { try url("/far") } }
  /// The URL of a token answer after 20 ms; the server answers no other request meanwhile.
  var slowTokenURL: URL { get throws { try url("/slow") } }
  /// The URL of an answer with status 503.
  var failingURL: URL { get throws { try url("/failing") } }

  /// The number of POST requests so far.
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

  /// The argument that starts this program as the server.
  static let argument = "--serve"
}

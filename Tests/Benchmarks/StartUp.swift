import FoundationEssentials
import Glibc
import SequencingOAuth

/// The time of `sq-demo token` from process start to end, with a stored and valid token.
///
/// It is compared with programs that do the same, and with a program that only loads the demo's
/// libraries.
///
/// Most of the time goes into loading before the program's first line. These medians were measured
/// in ms, with Swift's runtime shared and statically linked:
///
/// - the libraries alone, thirty of which libcurl loads: 9.1 and 6.5
/// - a `main` with tasks, and the arguments: 0.7 and 0.8
/// - `token` itself: the file, JSON, the session, five threads: 4.0 and 2.5
///
/// `token` itself does only what it needs. libcurl starts at the first request, and OpenSSL with
/// the first encrypted store. libsecret is loaded when a keyring is first used; loading it at the
/// start, with LD_PRELOAD, takes 1.7 and 2.3. The token file is read twice, but decoded once. A
/// third of the time of `token` itself is page faults; most of the rest is Swift's runtime, which
/// makes each generic type and looks for each conformance at its first use. A smaller buffer for
/// the file, no timer at the end and no stream for signals saved 40 page faults and no time that
/// could be measured. Another linker saves nothing, packed relocations save 1 %, and a fixed
/// address saves 4 % but gives up a protection.
///
/// To start faster, the SDK would have to load libcurl only at its first use, too. But libcurl's
/// functions are variadic, and nearly every program calls them. A program that needs its token
/// often keeps running instead, as `sq-demo watch` does.
struct StartUp {
  /// Each start is a separate sample, because disturbances of the machine are few but long.
  static let rounds = 201

  private let folder: String
  private var file: String { "\(folder)/tokens.json" }
  private static let token = String(repeating: "x", count: 1000)

  /// Creates a folder with a token file, and with the configuration of GitHub's program.
  init() async throws {
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "sq-benchmark-\(UUID().uuidString)").path
    let now = Date()
    try await FileTokenStore(path: "\(folder)/tokens.json").save(
      AccountRecord(
        id: "default", clientID: "sandbox-app", issuer: "https://id.example",
        tokenEndpoint: "https://id.example/token",
        token: SQToken(
          accessToken: Self.token, expirationDate: now + 86_400, scope: "demo",
          refreshToken: String(repeating: "r", count: 100), issueDate: now),
        attributes: [
          "issuer": "https://id.example", "redirect_uri": "http://127.0.0.1/callback",
          "scope": "demo",
        ]))
    // GitHub's program reads its token from a file in a folder that the environment names.
    try Data("github.com:\n    user: alice\n    oauth_token: \(Self.token)\n".utf8)
      .write(to: URL(filePath: "\(folder)/hosts.yml"))
    setenv("GH_CONFIG_DIR", folder, 1)
  }

  func removeFile() {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Returns a row for each existing program of the SDK and each program to compare it with.
  func all() -> [Benchmark] {
    Self.programs.flatMap { program -> [Benchmark] in
      guard let subject = run(program.path, ["token", "--store", "file:\(file)"]) else { return [] }
      return peers(of: program).map { peer, aim in
        Benchmark(name: program.name, peer: peer, subject: subject, aim: aim)
      }
    }
  }

  /// Returns the peers: programs that print the same token, a tool that loads the same libcurl, and
  /// a program that only loads the libraries.
  private func peers(of program: Program) -> [(Benchmark.Peer, aim: Double)] {
    [
      (Benchmark.Peer(name: GoPeer.name, run: run(Self.path("GO_TOKEN_PEER"), [file])), 0.5),
      (Benchmark.Peer(name: "gh auth token", run: run(Self.path("GH"), ["auth", "token"])), 1),
      (
        Benchmark.Peer(
          name: "curl --version", run: run(Self.path("CURL"), ["--version"], prints: "curl ")),
        0.75
      ),
      (Benchmark.Peer(name: "libraries alone", run: run(program.limit, [])), 0.9),
    ]
  }

  /// Prints the sizes of the programs.
  static func reportSizes() throws {
    for program in programs {
      var status = stat()
      guard let path = program.path, stat(path, &status) == 0 else { continue }
      let tenths = (Int(status.st_size) * 10 + (1 << 19)) >> 20
      let size = "\(tenths / 10).\(tenths % 10) MB"
      print("size of the program of \"\(program.name)\": \(size), without symbols")
    }
  }

  static var names: [String] { programs.map(\.name) }

  /// The demo in its default build, and with Swift's runtime statically linked.
  private static let programs = [
    Program(name: "token, start to exit", path: path("DEMO"), limit: path("LIMIT")),
    Program(
      name: "token, start to exit, static", path: path("STATIC_DEMO"), limit: path("STATIC_LIMIT")),
  ]

  private struct Program {
    let name: String
    let path: String?
    /// A program that loads the same libraries and does nothing with them.
    let limit: String?
  }

  private static func path(_ variable: String) -> String? {
    getenv(variable).map { String(cString: $0) }
  }

  private func run(
    _ path: String?, _ arguments: [String], prints start: String = "\(token)\n"
  ) -> Benchmark.Run? {
    guard let path else { return nil }
    let expected = Array(start.utf8)
    return {
      try await sample(1) {
        let program = try Companion(path, arguments)
        defer { program.stop() }
        guard try program.read(atMost: expected.count) == expected else {
          throw BenchmarkError("\(path) did not print what it should")
        }
      }
    }
  }
}

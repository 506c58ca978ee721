import CSQCurl
import CSQSockets
import FoundationEssentials
import Glibc
import SequencingOAuth
import SequencingOAuthPipes

/// Uploads and downloads of a gigabyte through nginx, compared with the `curl` tool.
///
/// All files are in memory, so that the disk sets no limit.
struct TransferBenchmarks {
  private static let size: Int64 = 1 << 30

  private let folder: String
  private let server: Companion
  private let url: String
  private let pipe: Pipeline.Pipe

  /// Starts nginx, or returns `nil` if nginx or `curl` is not installed.
  static func start() async throws -> TransferBenchmarks? {
    guard [curlTool, nginx].allSatisfy(FileManager.default.isExecutableFile(atPath:)) else {
      return nil
    }
    return try await TransferBenchmarks()
  }

  private static let curlTool = "/usr/bin/curl"
  private static let nginx = "/usr/sbin/nginx"

  private init() async throws {
    folder = "/dev/shm/sq-benchmark-\(UUID().uuidString)"
    for name in ["", "/root", "/logs"] {
      guard mkdir(folder + name, 0o700) == 0 else {
        throw BenchmarkError("cannot create \(folder)\(name)")
      }
    }
    let port = try Self.freePort()
    url = "http://127.0.0.1:\(port)"
    try Data(Self.configuration(port: port).utf8)
      .write(to: URL(filePath: "\(folder)/nginx.conf"))
    // nginx does not end with its input, as a companion must. So a shell waits for the end of the
    // input and stops nginx.
    let script = "\(Self.nginx) -p $0 -c nginx.conf -e error.log & cat >/dev/null; kill $!; wait"
    server = try Companion("/bin/sh", ["-c", script, folder])
    try Self.makeFile("\(folder)/root/down", Self.size)
    try Self.makeFile("\(folder)/up", Self.size)
    pipe = try await AuthorizedReads.pipe(url)
    try await Self.answers(pipe)
  }

  func stop() {
    server.stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  func all() -> [Benchmark] {
    [
      Benchmark(
        name: "download of 1 GB",
        peer: curl(["-o", "\(folder)/curl", "\(url)/down"]),
        subject: { [pipe, folder] in
          try Self.makeRoom(folder)
          return try await sample(1) {
            try await pipe.download(id: "down", to: URL(filePath: "\(folder)/ours"))
          }
        }, aim: 0.9),
      Benchmark(
        name: "upload of 1 GB",
        peer: curl(["-T", "\(folder)/up", "-H", "Expect:", "-o", "/dev/null", "\(url)/curl"]),
        subject: { [pipe, folder] in
          try Self.makeRoom(folder)
          return try await sample(1) {
            try await pipe.upload(.file(URL(filePath: "\(folder)/up")), id: "ours")
          }
        }, aim: 0.9),
    ]
  }

  /// Runs `curl` and takes the time that it reports, so the start of its process does not count.
  private func curl(_ arguments: [String]) -> Benchmark.Peer {
    Benchmark.Peer(name: "curl") { [folder] in
      try Self.makeRoom(folder)
      let curl = try Companion(
        Self.curlTool,
        ["-s", "-f", "-H", "Authorization: Bearer access", "-w", "%{time_total}"] + arguments)
      defer { curl.stop() }
      let answer = String(decoding: try curl.read(atMost: 4096), as: UTF8.self)
      guard let seconds = Double(answer), seconds > 0 else {
        throw BenchmarkError("curl: \(answer)")
      }
      return Benchmark.Sample(operations: 1, duration: .seconds(seconds))
    }
  }

  /// Removes the files of a transfer, and writes and removes another gigabyte.
  ///
  /// A virtual machine gives idle memory back to its host. The next program that writes into it
  /// must wait for the host, longer than a transfer takes. This method waits instead.
  private static func makeRoom(_ folder: String) throws {
    for name in ["curl", "ours", "root/curl", "root/ours"] { unlink("\(folder)/\(name)") }
    try makeFile("\(folder)/room", size)
    unlink("\(folder)/room")
  }

  private static func makeFile(_ path: String, _ size: Int64) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = fopen(path, "w")
    else { throw BenchmarkError("cannot create \(path)") }
    defer { fclose(file) }
    let block = Data(repeating: 0x5A, count: 1 << 20)
    for _ in 0..<(size / Int64(block.count)) {
      let written = block.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
      guard written == block.count else { throw BenchmarkError("no room for \(path)") }
    }
  }

  private static func freePort() throws -> UInt16 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
      }
    }
    guard result else { throw BenchmarkError("no port") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func answers(_ pipe: Pipeline.Pipe) async throws {
    for _ in 0..<200 {
      do throws(PipeError) {
        _ = try await pipe.content(id: "none")
      } catch {
        if error.refusal != nil { return }
        usleep(20_000)
      }
    }
    throw BenchmarkError("nginx does not answer")
  }

  private static func configuration(port: UInt16) -> String {
    """
    daemon off; worker_processes 1; pid nginx.pid;
    \(geteuid() == 0 ? "user root;" : "")
    events { worker_connections 512; }
    http {
      client_body_temp_path temporary; proxy_temp_path proxied; fastcgi_temp_path fastcgi;
      uwsgi_temp_path uwsgi; scgi_temp_path scgi;
      access_log off; sendfile on; client_max_body_size 0; client_body_buffer_size 256k;
      server { listen 127.0.0.1:\(port); root root; dav_methods PUT; }
    }
    """
  }
}

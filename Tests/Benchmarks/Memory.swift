import FoundationEssentials
import Glibc
import SequencingOAuth

/// The memory of a process that uses the SDK.
///
/// A separate process is measured, so the memory of the compared programs does not count.
enum Memory {
  /// Starts this program again with an argument, and waits until it has printed its figures.
  static func report(_ argument: String) throws {
    fflush(nil)
    let arguments = [strdup("benchmarks"), strdup(argument), nil]
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    guard posix_spawn(&process, "/proc/self/exe", nil, nil, arguments, environ) == 0 else {
      throw BenchmarkError("the process for the memory figures did not start")
    }
    waitpid(process, nil, 0)
  }

  // MARK: In the separate process

  static let argument = "--memory"
  static let accountsArgument = "--accounts"

  /// Sends requests as a busy app does, and prints the peak of the process's memory.
  ///
  /// It also prints the process's own memory, without the library code that all processes share.
  static func work(_ server: ByteServer) async throws {
    let before = try megabytes("VmHWM:")
    _ = try await HTTPBenchmarks.concurrent(server.url, 12000, width: 64)
    let peak = try megabytes("VmHWM:")
    let own = try megabytes("RssAnon:")
    print(
      "memory of a process: \(before) MB before its first request, \(peak) MB at its peak, all "
        + "libraries included; its own: \(own) MB")
  }

  /// Prints how much memory each of many accounts needs in addition to its record.
  static func reportAccounts() async throws {
    let count = 100_000
    let own = try await keepAccounts(count).own * 1024 / count
    print("memory of an account, one of \(count), besides its record: \(own) bytes")
  }

  /// Creates accounts with scheduled refreshes, and measures their memory.
  ///
  /// - Returns: The kilobytes that the accounts use in addition to their records, and those of the
  ///   whole process.
  static func keepAccounts(_ count: Int) async throws -> (own: Int, process: Int) {
    let store = MemoryTokenStore()
    let now = Date()
    let configuration = try ClientConfiguration(
      clientID: "sandbox-service", provider: .issuer("https://id.example"))
    for index in 0..<count {
      let token = SQToken(
        accessToken: "access-\(index)", expirationDate: now + 3600 + Double(index),
        refreshToken: "refresh-\(index)", issueDate: now)
      await store.save(
        AccountRecord(
          id: "account-\(index)", clientID: configuration.clientID, issuer: "https://id.example",
          token: token))
    }
    let before = try kilobytes("VmRSS:")
    let manager = AccountManager(store: store)
    for index in 0..<count {
      let account = try await manager.account(configuration, id: "account-\(index)")
      account.refreshesAutomatically = true
      guard account.isAuthorized else { throw BenchmarkError("an account has no valid token") }
    }
    let process = try kilobytes("VmRSS:")
    return (process - before, process)
  }

  static func megabytes(_ name: String) throws -> Int {
    (try kilobytes(name) + 512) / 1024
  }

  private static func kilobytes(_ name: String) throws -> Int {
    let status = try Data(contentsOf: URL(filePath: "/proc/self/status"))
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(name) }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int($0) })
    else { throw BenchmarkError("no memory figures") }
    return kilobytes
  }
}

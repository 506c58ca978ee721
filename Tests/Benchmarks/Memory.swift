import FoundationEssentials
import Glibc

/// What a process that uses the SDK takes of the machine's memory.
///
/// It is measured in a process of its own, which holds nothing of what the SDK is compared with.
enum Memory {
  /// Starts this program again, which writes its line itself.
  static func report() throws {
    fflush(nil)
    let arguments = [strdup("benchmarks"), strdup(argument), nil]
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    guard posix_spawn(&process, "/proc/self/exe", nil, nil, arguments, environ) == 0 else {
      throw BenchmarkError("the process for the memory figures did not start")
    }
    waitpid(process, nil, 0)
  }

  // MARK: In that process

  static let argument = "--memory"

  /// Does the work of a busy app and prints the peak, and what of it is the process's own rather
  /// than code of libraries, which the system has only once for all processes.
  static func work(_ server: ByteServer) async throws {
    let before = try megabytes("VmHWM:")
    _ = try await HTTPBenchmarks.concurrent(server.url, 12000, width: 64)
    let peak = try megabytes("VmHWM:")
    let own = try megabytes("RssAnon:")
    print(
      "memory of a process: \(before) MB before its first request, \(peak) MB at its peak, all "
        + "libraries included; its own: \(own) MB")
  }

  private static func megabytes(_ name: String) throws -> Int {
    let status = try Data(contentsOf: URL(filePath: "/proc/self/status"))
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(name) }),
      let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap({ Int($0) })
    else { throw BenchmarkError("no memory figures") }
    return (kilobytes + 512) / 1024
  }
}

import Foundation
import TestSupport

/// A server program with several processes, none of which outlives the test process.
///
/// A server may put its processes into separate groups, as PostgreSQL does, so a signal to one
/// group does not reach them all. When the test process ends in any way, a watcher kills the server
/// and its processes, and removes the server's folder.
final class ServerProcess: Sendable {
  private let process: ChildProcess

  /// Starts a program in a folder, as the user of ``ServerUser``.
  ///
  /// `disk` gets the command, and returns the command to run, for example one that first mounts a
  /// ``SmallDisk``.
  init(
    _ command: [String], in folder: TemporaryFolder,
    disk: ([String]) -> [String] = { $0 }
  ) throws {
    // The script's input ends when the test process ends. After SIGSTOP, the server cannot start
    // another process. It also cannot reap its killed processes, so no other program can get their
    // IDs.
    let script = """
      exec 9<&0
      (
        trap '' INT QUIT TERM
        cat <&9 >/dev/null
        read -r self rest </proc/self/stat
        kill -STOP $$
        read -r children </proc/$$/task/$$/children
        for child in $children; do [ "$child" = "$self" ] || kill -KILL "$child"; done
        kill -KILL $$
        [ ! -e data/postmaster.pid ] || ipcrm -m "$(sed -n '7s/.* //p' data/postmaster.pid)"
        rm -rf "$PWD"
      ) &
      exec "$@" 9<&- </dev/null
      """
    process = try ChildProcess(
      disk(ServerUser.command(["sh", "-c", script, "sh"] + command, in: folder)),
      environment: ServerUser.environment, input: .open)
  }

  deinit {
    kill()
  }

  var processID: pid_t { process.processID }
  /// The process IDs of the server.
  var processIDs: [pid_t] { isRunning ? [processID] + workers : [] }
  var isRunning: Bool { process.isRunning }
  /// The log, which is the standard error.
  var log: String { process.errors }

  /// Waits until the server is ready, or throws if it ends or does not become ready.
  func isReady(_ condition: () throws -> Bool) async throws {
    do {
      // After a crash, the server first syncs all its files.
      try await eventually("the server is ready", within: .seconds(90)) {
        guard isRunning else { throw ChildProcessError(message: "the server ended") }
        return try condition()
      }
    } catch {
      throw ChildProcessError(message: "\(error); its log: \(log)")
    }
  }

  /// Ends the server with a signal, and kills it after the limit.
  func stop(_ signal: Int32, within limit: Duration = .seconds(20)) async {
    resume()
    process.signal(signal, alone: true)
    // A new task waits, because the test's task may have been cancelled.
    await Task { [self] in
      try? await eventually("the server ends", within: limit) { !isRunning }
      kill()
    }.value
  }

  /// Kills the server and its processes at once, and returns when they have ended.
  func kill() {
    halt()
    let children = children
    children.forEach { Glibc.kill($0, SIGKILL) }
    process.signal(SIGKILL)
    while isRunning || children.contains(where: { !Self.hasEnded($0) }) { usleep(500) }
  }

  /// Suspends the server and its processes.
  func pause() {
    halt()
    let workers = workers
    workers.forEach { Glibc.kill($0, SIGSTOP) }
    while workers.contains(where: { ChildProcess.state(of: $0) != "T" && !Self.hasEnded($0) }) {
      usleep(500)
    }
  }

  /// Continues the server and its processes after ``pause()``.
  func resume() {
    workers.forEach { Glibc.kill($0, SIGCONT) }
    process.signal(SIGCONT, alone: true)
  }

  /// Suspends the server's first process, so that the list of its processes does not grow, and no
  /// process ID in the list can be given to another process.
  private func halt() {
    guard isRunning else { return }
    process.signal(SIGSTOP, alone: true)
    var info = siginfo_t()
    // WNOWAIT leaves the status to the thread that waits for the end of the process.
    while waitid(P_PID, id_t(processID), &info, WSTOPPED | WEXITED | WNOWAIT) != 0, errno == EINTR {
    }
  }

  /// The processes that the server started, and the watcher.
  private var children: [pid_t] {
    guard isRunning else { return [] }
    let path = "/proc/\(processID)/task/\(processID)/children"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: " ").compactMap { pid_t($0) }
  }

  /// The processes that the server started.
  private var workers: [pid_t] {
    let name = Self.name(of: processID)
    return children.filter { Self.name(of: $0) == name }
  }

  private static func name(of processID: pid_t) -> String? {
    try? String(contentsOfFile: "/proc/\(processID)/comm", encoding: .utf8)
  }

  private static func hasEnded(_ processID: pid_t) -> Bool {
    // In a container, a process without a parent may stay a zombie.
    ["Z", "X", nil].contains(ChildProcess.state(of: processID))
  }
}

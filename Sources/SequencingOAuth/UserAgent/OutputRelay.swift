import Dispatch
import SQBasics

#if canImport(Glibc)
  import CSQSockets
  import Glibc
#else
  import Darwin
#endif

/// A pipe for what a program prints, which a thread passes on to standard error while it runs.
final class OutputRelay: Sendable {
  private let readEnd: Int32
  let writeEnd: Int32
  /// Ends the reading when the program has ended, although one that it started has the pipe open.
  private let end: [Int32]
  private let isDone = DispatchSemaphore(value: 0)

  /// Opens the pipe and starts the thread; `nil` if the system has no file or thread to give.
  init?() {
    guard let pipe = Self.pipe() else { return nil }
    guard let end = Self.pipe() else {
      pipe.forEach { close($0) }
      return nil
    }
    readEnd = pipe[0]
    writeEnd = pipe[1]
    self.end = end
    guard Threads.start({ self.passOn() }) else {
      (pipe + end).forEach { close($0) }
      return nil
    }
  }

  /// Closes the program's end here, once the program has it.
  func closeWriteEnd() {
    close(writeEnd)
  }

  /// Passes on what has come so far, and ends the reading.
  func finish() {
    close(end[1])
    isDone.wait()
  }

  private func passOn() {
    // If nobody reads our standard error any more, that must not end this process.
    var signals = sq_no_signals()
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
    var hasEnded = false
    while !hasEnded {
      let ready = sq_wait_for_input(readEnd, end[0])
      guard ready > 0 else {
        if errno == EINTR { continue }
        break
      }
      hasEnded = ready & 2 != 0 || !copyAll()
    }
    _ = copyAll()
    close(readEnd)
    close(end[0])
    isDone.signal()
  }

  /// Passes on what is in the pipe; returns `false` at its end.
  private func copyAll() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(readEnd, buffer.baseAddress, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        _ = write(2, buffer.baseAddress, count)
      }
    }
  }

  /// The two ends of a pipe; no program that is started later inherits them.
  private static func pipe() -> [Int32]? {
    var ends: [Int32] = [-1, -1]
    #if canImport(Glibc)
      guard Glibc.pipe(&ends) == 0 else { return nil }
    #else
      guard Darwin.pipe(&ends) == 0 else { return nil }
    #endif
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }
}

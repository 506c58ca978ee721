import CSQSockets
import Dispatch
import SQBasics
import SQLibC

/// A pipe for a program's output; a thread passes the output on to standard error.
final class OutputRelay: Sendable {
  private let readEnd: Int32
  let writeEnd: Int32
  /// A second pipe, which ends the reading when the program has ended, even if another program
  /// keeps the first pipe open.
  private let end: [Int32]
  private let isDone = DispatchSemaphore(value: 0)

  /// Opens the pipe and starts the thread; `nil` if the system cannot provide a file or a thread.
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

  /// Closes this process's copy of the write end, after the program has inherited its own copy.
  func closeWriteEnd() {
    close(writeEnd)
  }

  /// Passes on the output so far, and ends the reading.
  func finish() {
    close(end[1])
    isDone.wait()
  }

  private func passOn() {
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

  /// Passes on the content of the pipe; returns `false` at its end.
  private func copyAll() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = read(readEnd, buffer.baseAddress, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        _ = sq_write(2, buffer.baseAddress, count)
      }
    }
  }

  /// Returns the two ends of a pipe, which no other program inherits.
  private static func pipe() -> [Int32]? {
    var opened: [Int32] = [-1, -1]
    return sq_pipe(&opened) == 0 ? DescriptorNumber.aboveStandard(opened) : nil
  }
}

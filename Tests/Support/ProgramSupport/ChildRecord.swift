import Foundation
import SQBasics

/// The output and the status of a child process; each blocking call runs on a separate thread.
final class ChildRecord: Sendable {
  struct State: Sendable {
    var output = Data()
    var errors = Data()
    var openStreams = 0
    var status: Int32?
    var inputEnd: Int32?
  }

  private let processID: pid_t
  private let state: Locked<State>

  init(processID: pid_t, inputEnd: Int32? = nil) {
    self.processID = processID
    state = Locked(State(inputEnd: inputEnd))
  }

  var status: Int32? { state.withLock { $0.status } }
  /// Whether the process has ended and all of its output was read.
  var isComplete: Bool { state.withLock { $0.status != nil && $0.openStreams == 0 } }

  func text(_ stream: any KeyPath<State, Data> & Sendable) -> String {
    String(decoding: state.withLock { $0[keyPath: stream] }, as: UTF8.self)
  }

  /// Starts a thread that appends a pipe's bytes to `stream`, and closes the pipe at its end.
  func collect(_ descriptor: Int32, into stream: any WritableKeyPath<State, Data> & Sendable) {
    state.withLock { $0.openStreams += 1 }
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 16 * 1024)
      while case let count = read(descriptor, &buffer, buffer.count), count != 0 {
        guard count > 0 else {
          if errno == EINTR { continue } else { break }
        }
        let bytes = Data(buffer[..<count])
        state.withLock { $0[keyPath: stream].append(bytes) }
      }
      close(descriptor)
      state.withLock { $0.openStreams -= 1 }
    }
  }

  /// Starts a thread that waits for the end of the process, kills the rest of its group, and takes
  /// the status.
  func reap() {
    Thread.detachNewThread { [self] in
      var info = siginfo_t()
      while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      // Until the status is taken, no other process can get this process ID.
      kill(-processID, SIGKILL)
      state.withLock { state in
        var raw: Int32 = 0
        while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
        let signal = raw & 0x7f
        state.status = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
      }
    }
  }

  /// Writes the whole input and closes it.
  func write(_ data: Data) {
    // The descriptor is taken from the state: if another thread closed it during the write, its
    // number could become another file's.
    guard let end = takeInputEnd() else { return }
    Thread.detachNewThread {
      // A program that does not read its input must not end this process.
      var pipe = sigset_t()
      sigemptyset(&pipe)
      sigaddset(&pipe, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &pipe, nil)
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(end, $0.baseAddress, $0.count) }
        if count < 0, errno != EINTR { break }
        rest = rest.dropFirst(max(0, count))
      }
      close(end)
    }
  }

  func closeInput() {
    if let end = takeInputEnd() { close(end) }
  }

  private func takeInputEnd() -> Int32? {
    state.withLock { state in
      defer { state.inputEnd = nil }
      return state.inputEnd
    }
  }

  func signal(_ number: Int32, alone: Bool = false) {
    // The status is taken under the same lock. While it is not taken, the process ID cannot belong
    // to another process.
    state.withLock { state in
      if state.status == nil { kill(alone ? processID : -processID, number) }
    }
  }
}

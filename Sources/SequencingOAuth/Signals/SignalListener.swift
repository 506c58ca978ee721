import CSQSockets
import SQBasics
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The process's only handler of the signals that ask a program to end.
///
/// The handler writes the signal's number to a pipe, which a separate thread reads. Nothing depends
/// on a dispatch queue or on the threads of Swift's tasks, so the program gets the signal even if
/// all of these are busy.
final class SignalListener: Sendable {
  typealias Handler = @Sendable (Int32) -> Void

  private struct State {
    var handlers: [Int: Handler] = [:]
    var lastID = 0
    /// The pipe's end from which the thread reads; `nil` until there is a thread.
    var readEnd: Int32?
  }

  static let shared = SignalListener()
  /// The values that the signal handler needs, which are atomic because it may interrupt any code.
  private static let writeEnd = Atomic<Int32>(-1)
  private static let hearsHangUp = Atomic(false)
  private let state = Locked(State())

  /// The time of the signal that was handled, in nanoseconds; 0 if none was.
  private static let heardAt = Atomic<UInt64>(0)
  /// The time in which several signals count as one, in nanoseconds.
  ///
  /// `timeout` sends its signal to the program and to the program's group, a terminal that closes
  /// may send two, and a wrapper forwards a signal that its whole group has received.
  static let moment: UInt64 = 500_000_000

  /// Makes the next signal call a function once, on a new thread, with the signal's number.
  ///
  /// A second signal, after ``moment``, ends the program. If the system cannot provide a pipe or a
  /// thread, the signals keep their usual effect.
  func add(_ handler: @escaping Handler) -> Int {
    state.withLock { state in
      state.lastID += 1
      if state.readEnd == nil { state.readEnd = startReading() }
      guard state.readEnd != nil else { return state.lastID }
      state.handlers[state.lastID] = handler
      Self.install()
      return state.lastID
    }
  }

  /// Removes a function; if none is left, the signals end the program again.
  func remove(_ id: Int) {
    state.withLock { state in
      guard state.handlers.removeValue(forKey: id) != nil, state.handlers.isEmpty else { return }
      Self.uninstall()
    }
  }

  // MARK: The thread

  private func startReading() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    Self.writeEnd.store(ends[1], ordering: .releasing)
    let readEnd = ends[0]
    guard Threads.start({ self.listen(at: readEnd) }) else {
      ends.forEach { close($0) }
      return nil
    }
    return readEnd
  }

  private func listen(at end: Int32) {
    var number: UInt8 = 0
    while true {
      switch read(end, &number, 1) {
      case 1: hear(Int32(number))
      case -1 where errno == EINTR: continue
      default: return
      }
    }
  }

  private func hear(_ number: Int32) {
    let handlers = state.withLock { state in
      defer { state.handlers = [:] }
      return state.handlers.values.map(\.self)
    }
    for handler in handlers where !Threads.start({ handler(number) }) { handler(number) }
  }

  // MARK: The signals

  private static func install() {
    // Only SIGHUP may stay ignored, because shell scripts make every background program ignore
    // SIGINT.
    let hearsHangUp = hearsHangUp.load(ordering: .acquiring) || !isIgnored(SIGHUP)
    Self.hearsHangUp.store(hearsHangUp, ordering: .releasing)
    heardAt.store(0, ordering: .releasing)
    signal(SIGINT, handle)
    signal(SIGTERM, handle)
    if hearsHangUp { signal(SIGHUP, handle) }
  }

  private static func uninstall() {
    signal(SIGINT, SIG_DFL)
    signal(SIGTERM, SIG_DFL)
    if hearsHangUp.load(ordering: .acquiring) { signal(SIGHUP, SIG_DFL) }
  }

  /// Ends the program by the signal itself, so that a shell sees which signal it was.
  static func end(by number: Int32) {
    signal(number, SIG_DFL)
    kill(getpid(), number)
  }

  private static let handle: @convention(c) (Int32) -> Void = { number in
    let error = errno
    let now = SignalListener.now
    let (isFirst, heardAt) = SignalListener.heardAt.compareExchange(
      expected: 0, desired: now, ordering: .acquiringAndReleasing)
    if isFirst {
      var byte = UInt8(truncatingIfNeeded: number)
      write(SignalListener.writeEnd.load(ordering: .acquiring), &byte, 1)
    } else if SignalListener.isAnother(at: now, after: heardAt) {
      // The signal is sent again, and ends the program after the handler returns.
      SignalListener.uninstall()
      SignalListener.end(by: number)
    }
    errno = error
  }

  /// Whether a signal came so late after the handled one that it counts as a second signal.
  static func isAnother(at now: UInt64, after heardAt: UInt64) -> Bool {
    now > heardAt && now - heardAt >= moment
  }

  /// The monotonic time in nanoseconds, never 0; it is safe to use in a signal handler.
  private static var now: UInt64 { max(1, sq_monotonic_nanoseconds()) }

  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_IGN)
    signal(number, handler)
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

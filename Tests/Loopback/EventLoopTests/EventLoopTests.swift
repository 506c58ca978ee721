import Foundation
import TestSupport
import Testing

@testable import SQBasics

/// The thread that waits for sockets, times and wake-ups, by the system's best call or by poll(2).
@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
  static let pollers = [Poller(name: "the system's best"), Poller(name: "poll(2)")]

  struct Poller: Sendable, CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }

    func loop() throws -> EventLoop {
      try EventLoop(name == "poll(2)" ? PollPoller() : SocketPollers.make())
    }
  }

  /// Two connected sockets.
  private final class Pair: Sendable {
    let near: Int32
    let far: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      (near, far) = (ends[0], ends[1])
    }

    deinit {
      close(near)
      close(far)
    }

    func send() { _ = write(far, "x", 1) }
    func receive() {
      var byte: UInt8 = 0
      _ = read(near, &byte, 1)
    }
  }

  /// A handler that reports its calls to a test, one after the other.
  private final class Recorder: EventHandler {
    enum Call: Sendable, Hashable {
      case ready(SocketEvents)
      case due
      case called
      case failed
    }

    private let calls: AsyncStream<Call>
    private let report: AsyncStream<Call>.Continuation
    private let count = Locked(0)
    private let onReady: @Sendable () -> Void

    init(onReady: @escaping @Sendable () -> Void = {}) {
      (calls, report) = AsyncStream.makeStream()
      self.onReady = onReady
    }

    var isSilent: Bool { count.withLock { $0 == 0 } }

    func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {
      onReady()
      for ready in sockets { record(.ready(ready.events)) }
    }
    func timeIsDue() { record(.due) }
    func isCalled() { record(.called) }
    func loopHasFailed() { record(.failed) }

    private func record(_ call: Call) {
      count.withLock { $0 += 1 }
      report.yield(call)
    }

    func next() async -> Call? {
      for await call in calls { return call }
      return nil
    }
  }

  /// A handler that tells when it is released.
  private final class Watch: EventHandler {
    private let isGone: OneShot<Void>
    init(_ isGone: OneShot<Void>) { self.isGone = isGone }
    deinit { isGone.resolve(()) }
  }

  @Test(arguments: pollers)
  func `a socket is reported when it can be read or written, and when its other side is gone`(
    poller: Poller
  ) async throws {
    let (loop, pair) = (try poller.loop(), try Pair())
    defer { loop.end() }
    let handler = Recorder { pair.receive() }
    #expect(loop.watch(pair.near, for: .readable, by: handler))
    for _ in 0..<3 {
      pair.send()
      #expect(await handler.next() == .ready(.readable))
    }
    loop.change(pair.near, to: [])
    pair.send()
    loop.change(pair.near, to: [.writable, .once])
    let event = await handler.next()
    #expect(event == .ready(.writable))
    loop.change(pair.near, to: [])
    shutdown(pair.far, Int32(SHUT_RDWR))
    guard case .ready(let events)? = await handler.next() else {
      Issue.record("the end of the other side was not reported")
      return
    }
    #expect(events.contains(.ended))
    loop.forget(pair.near)
  }

  @Test(arguments: pollers)
  func `a socket that is watched once is reported once`(poller: Poller) async throws {
    let (loop, pair) = (try poller.loop(), try Pair())
    defer { loop.end() }
    let handler = Recorder()
    for _ in 0..<2 {
      pair.send()
      #expect(loop.watch(pair.near, for: [.readable, .once], by: handler))
      #expect(await handler.next() == .ready(.readable))
      // Although the bytes are still unread, the loop reports only this call, not the socket.
      loop.callSoon(handler)
      #expect(await handler.next() == .called)
    }
  }

  @Test(arguments: pollers)
  func `a timer that another thread moves to an earlier time wakes the loop`(poller: Poller)
    async throws
  {
    let loop = try poller.loop()
    defer { loop.end() }
    let (early, late) = (Recorder(), Recorder())
    loop.call(late, at: Monotonic.after(.seconds(3600)))
    loop.call(early, at: Monotonic.after(.seconds(7200)))
    loop.callSoon(early)
    #expect(await early.next() == .called)
    loop.call(early, at: Monotonic.now())
    #expect(await early.next() == .due)
    loop.call(late, at: Monotonic.never)
    #expect(loop.state.withLock { $0.timers.isEmpty })
  }

  @Test(arguments: pollers)
  func `EventLoop.wakeUp calls the handlers that wait for wake-ups`(poller: Poller) async throws {
    let loop = try poller.loop()
    defer { loop.end() }
    let handler = Recorder()
    let descriptor = loop.callAfterWakeUps(handler)
    for _ in 0..<3 {
      EventLoop.wakeUp(descriptor)
      #expect(await handler.next() == .called)
    }
  }

  @Test(arguments: pollers)
  func `a wait ends when its socket is ready or invalid, when its time is over or after end()`(
    poller: Poller
  ) async throws {
    let (loop, pair) = (try poller.loop(), try Pair())
    defer { loop.end() }
    let never = Monotonic.after(.seconds(3600))
    let late = SocketWait(pair.near, until: Monotonic.now(), on: loop)
    #expect(await !late.result())
    let ended = SocketWait(pair.near, until: never, on: loop)
    ended.end()
    #expect(await !ended.result())
    let ready = SocketWait(pair.near, until: never, on: loop)
    pair.send()
    #expect(await ready.result())
    let none = SocketWait(until: Monotonic.now(), on: loop)
    #expect(await !none.result())
    let broken = SocketWait(-1, until: never, on: loop)
    #expect(await !broken.result())
    #expect(loop.state.withLock { $0.timers.isEmpty })
  }

  @Test(arguments: pollers)
  func `a loop that has ended releases its handlers`(poller: Poller) async throws {
    let (loop, pair) = (try poller.loop(), try Pair())
    let isGone = OneShot<Void>()
    #expect(loop.watch(pair.near, for: .readable, by: Watch(isGone)))
    loop.end()
    await isGone.wait()
  }

  @Test func `a loop that is closed for the process's exit calls no handler`() async throws {
    let pair = try Pair()
    let (handler, isGone) = (Recorder(), OneShot<Void>())
    var loop: EventLoop? = try EventLoop()
    #expect(loop?.watch(pair.near, for: .readable, by: handler) == true)
    loop?.call(Watch(isGone), at: Monotonic.after(.seconds(3600)))
    loop?.close()
    pair.send()
    // From now on, only the loop's thread keeps the loop and its handlers alive. The thread ends
    // instead of calling the handler.
    loop = nil
    try #require(await isGone.value())
    #expect(handler.isSilent)
    withExtendedLifetime(pair) {}
  }

  /// Runs in a separate process, because another test could get the closed descriptors' numbers.
  @Test(.ownThreads)
  func `if the app closes a loop's descriptors, existing and new handlers get a failure`()
    async
  {
    await #expect(processExitsWith: .success) {
      // With poll(2), a wake-up may be written to a pipe whose read end is already closed.
      signal(SIGPIPE, SIG_IGN)
      for poller in EventLoopTests.pollers {
        for wakeUpIsClosed in [true, false] {
          let before = EventLoopTests.descriptors()
          let loop = try poller.loop()
          let own = EventLoopTests.descriptors().subtracting(before)
          try #require(own.contains(loop.poller.wakeUpDescriptor))
          let pair = try Pair()
          let (watching, timed, late) = (Recorder(), Recorder(), Recorder())
          try #require(loop.watch(pair.near, for: .readable, by: watching))
          loop.call(timed, at: Monotonic.after(.seconds(3600)))
          let wait = SocketWait(until: Monotonic.after(.seconds(3600)), on: loop)
          while loop.state.withLock({ $0.sleepsUntil == 0 }) { await Task.yield() }
          for number in own where wakeUpIsClosed || number != loop.poller.wakeUpDescriptor {
            close(number)
          }
          // Either this call cannot wake the loop's thread, or the thread wakes and cannot wait
          // again.
          loop.callSoon(Recorder())
          #expect(await watching.next() == .failed)
          #expect(await timed.next() == .failed)
          #expect(await !wait.result())
          #expect(loop.hasFailed)
          #expect(!loop.watch(pair.near, for: .readable, by: watching))
          loop.callSoon(late)
          #expect(await late.next() == .failed)
          #expect(await !SocketWait(until: Monotonic.after(.seconds(3600)), on: loop).result())
        }
      }
    }
  }

  /// Returns the numbers of the open descriptors.
  private static func descriptors() -> Set<Int32> {
    Set((0..<1024).filter { fcntl($0, F_GETFD) >= 0 })
  }

  @Test func `a shared instance that could not be created is created at its next use`() throws {
    let instance = SharedInstance<Int, EventLoopFailure>()
    #expect(throws: EventLoopFailure.noThread) {
      try instance.get { () throws(EventLoopFailure) in throw .noThread }
    }
    #expect(try instance.get { () throws(EventLoopFailure) in 1 } == 1)
    #expect(try instance.get { () throws(EventLoopFailure) in 2 } == 1)
  }
}

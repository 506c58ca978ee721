import SQLibC

/// The system's way to wait for many sockets at once, for one thread.
///
/// Only that thread calls ``wait(until:_:)``; the other methods may be called by any thread. There
/// is one implementation for each system call: `EpollPoller` for epoll(7) and `PollPoller` for
/// poll(2).
protocol SocketPoller: AnyObject, Sendable {
  /// The descriptor that wakes the thread when ``SocketPollers/wakeUp(_:)`` writes to it.
  var wakeUpDescriptor: Int32 { get }

  /// Sets the events to wait for on a socket; returns `false` if the system cannot watch it.
  ///
  /// With no events it waits only for the socket's end. `isKnown` is `true` if the socket was
  /// probably set before.
  func set(_ socket: Int32, _ events: SocketEvents, isKnown: Bool) -> Bool

  /// Stops waiting for a socket; call it before the socket is closed.
  func remove(_ socket: Int32)

  /// Waits for events until a time of ``Monotonic`` and appends them; returns whether it was woken.
  ///
  /// Returns `nil` if the system can no longer wait, because the poller's descriptors are closed or
  /// belong to something else.
  func wait(until deadline: UInt64, _ ready: inout [ReadySocket]) -> Bool?
}

enum SocketPollers {
  /// Creates the best poller of the system.
  ///
  /// In debug builds, the environment variable SQ_POLL selects poll(2), for the tests.
  static func make() throws(EventLoopFailure) -> any SocketPoller {
    #if DEBUG
      if getenv("SQ_POLL") != nil { return try PollPoller() }
    #endif
    #if os(Linux)
      return try EpollPoller()
    #else
      return try PollPoller()
    #endif
  }

  /// Wakes the thread that waits in a poller; a signal handler may call it.
  ///
  /// Returns `false` if the descriptor is closed or cannot be written.
  @discardableResult
  static func wakeUp(_ descriptor: Int32) -> Bool {
    var value: UInt64 = 1
    // A full pipe wakes the thread too.
    return write(descriptor, &value, MemoryLayout<UInt64>.size) >= 0 || errno == EAGAIN
  }
}

/// An error: the system has no descriptor or no thread for an event loop.
package struct EventLoopFailure: Error, Sendable, Hashable {
  /// The system's error.
  package let errno: Int32

  init(errno: Int32) {
    self.errno = errno
  }

  static let noThread = Self(errno: EAGAIN)
}

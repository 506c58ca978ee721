import SQBasics
import SQFoundation
import SQHTTP2
import SQLibC
import SequencingOAuth

/// A server's connection and waiting attempts, shared by channels with the same settings.
///
/// New attempts all use one connection. A connection that accepts no further attempts finishes its
/// current attempts while the next connection is in use.
final class RPCPeer: EventHandler {
  /// The settings that two channels must have in common to share a connection.
  struct Key: Hashable {
    let url: URL
    let configuration: HTTPTransportConfiguration
    let keepAlive: Duration?
  }

  struct State {
    /// The connection for the next attempts; `nil` if there is none.
    var current: RPCConnection?
    /// Connections that only finish their current attempts.
    var draining: [RPCConnection] = []
    /// The attempts that wait for a connection.
    var waiting: [RPCStream] = []
    var opening = ConnectionAttempts()
    /// The longest interval between pings of any connection so far.
    ///
    /// A connection doubles its interval if the server complains.
    var pingInterval: UInt64 = 0
    /// The time before which nothing is due.
    var nextCheck = UInt64.max
    /// The time at which the event loop will call `timeIsDue`; `UInt64.max` means never.
    var alarm = UInt64.max
    /// Attempts that have ended, but whose callers still have to be resumed.
    var ended: [RPCStream] = []
  }

  /// New attempts for the loop; callers add them here without waiting for the state's lock.
  private struct Arrivals {
    var streams: [RPCStream] = []
    /// The number of attempts that have started and not ended.
    var count = 0
    /// Whether the loop was asked to take the streams and has not taken them yet.
    var isAnnounced = false
  }

  private let key: Key
  private let target: RequestTarget
  private let client: CurlTransport
  private let state = Locked(State())
  private let arrivals = Locked(Arrivals())

  private init(_ key: Key, _ target: RequestTarget) {
    self.key = key
    self.target = target
    client = CurlTransport(configuration: key.configuration)
  }

  // MARK: Sharing

  private struct Weak {
    weak var peer: RPCPeer?
  }

  private static let all = Locked<[Key: Weak]>([:])

  /// Returns the peer for a key; channels and connections keep it alive.
  static func shared(_ key: Key) throws(SQOAuthError) -> RPCPeer {
    let target = try RequestTarget(key.url)
    return all.withLock { all in
      if let peer = all[key]?.peer { return peer }
      all = all.filter { $0.value.peer != nil }
      let peer = RPCPeer(key, target)
      all[key] = Weak(peer: peer)
      return peer
    }
  }

  // MARK: For calls

  /// Makes an attempt as soon as there is a connection; the attempt's continuation must be set.
  ///
  /// If no other attempt is under way, it is made on the caller's thread. Otherwise the event loop
  /// makes all attempts that arrived together in one step, which costs less.
  func start(_ stream: RPCStream) {
    let (isAlone, mustAnnounce) = arrivals.withLock { arrivals in
      arrivals.count += 1
      if arrivals.count == 1 { return (true, false) }
      arrivals.streams.append(stream)
      defer { arrivals.isAnnounced = true }
      return (false, !arrivals.isAnnounced)
    }
    if isAlone {
      act { $0.add(stream) }
    } else if mustAnnounce {
      // Without a loop, there is no connection either, and the attempts fail.
      if let loop = EventLoop.shared { loop.callSoon(self) } else { isCalled() }
    }
  }

  /// Ends an attempt with an error, unless it has ended.
  ///
  /// An attempt that has not started ends as soon as it starts.
  func end(_ stream: RPCStream, _ error: RPCCallError) {
    act { state in
      if let index = state.waiting.firstIndex(where: { $0 === stream }) {
        state.ended.append(state.waiting.remove(at: index))
      } else if let connection = state.connection(of: stream) {
        connection.end(stream, error)
        connection.flush()
      }
      stream.end(error)
    }
  }

  /// Continues to send an attempt, because the app has sent more messages.
  func resume(_ stream: RPCStream) {
    act { state in
      guard stream.isWaitingForContent, let connection = state.connection(of: stream) else {
        return
      }
      connection.session?.resume(stream.id)
      connection.flush()
    }
  }

  /// Lets the server send more, because the app has read `count` bytes of messages.
  func consume(_ count: Int, of stream: RPCStream) {
    act { state in
      guard let connection = state.connection(of: stream) else { return }
      connection.session?.consume(stream.hasRead(count), of: stream.id)
      connection.flush()
    }
  }

  // MARK: Events of the loop

  func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {
    for ready in sockets { read(ready.socket) }
  }

  private func read(_ socket: Int32) {
    for turn in 0..<RPCConnection.turns {
      // Read few bytes first, so that the callers of the first answers continue while more is read.
      let limit = turn == 0 ? 2048 : ConnectionBytes.capacity
      var hasMore = false
      act { hasMore = $0.connection(on: socket)?.read(limit) ?? false }
      if !hasMore { return }
    }
  }

  func timeIsDue() {
    act { state in
      state.alarm = .max
      let now = Monotonic.now()
      if state.nextCheck <= now { state.check(at: now) }
    }
  }

  /// Makes the attempts that callers have added.
  func isCalled() {
    var count = 0
    for _ in 0..<16 {
      let next = arrivals.withLock { $0.streams.count }
      if next == count { break }
      count = next
      sched_yield()
    }
    let streams = takeArrivals()
    act { state in
      for stream in streams { state.add(stream) }
    }
  }

  private func takeArrivals() -> [RPCStream] {
    arrivals.withLock { arrivals in
      arrivals.isAnnounced = false
      defer { arrivals.streams = [] }
      return arrivals.streams
    }
  }

  /// Ends all attempts, because the event loop no longer watches their connections.
  func loopHasFailed() {
    let streams = takeArrivals()
    act { state in
      for stream in streams { state.add(stream) }
      state.alarm = .max
      state.endAll(RPCCallError(.unavailable, EventLoop.closedAdvice))
    }
  }

  // MARK: Connections

  /// Opens a connection in a new task, because many attempts may wait for it.
  private func open() {
    Task {
      nonisolated(unsafe) let opened = await Result.of { () throws(SQOAuthError) in
        try await connect()
      }
      act { state in
        switch opened {
        case .success(let connection): state.begin(connection, for: self)
        case .failure(let error): state.cannotOpen(RPCCallError(transport: error))
        }
      }
    }
  }

  private func connect() async throws(SQOAuthError) -> RPCConnection {
    let opened = try await client.openConnection(to: key.url, within: ConnectionAttempts.limit)
    return try RPCConnection(
      opened, host: target.host, authority: target.authority, keepAlive: key.keepAlive)
  }

  // MARK: Changing the state

  /// Changes the state under the lock and acts on the changes, then resumes callers outside the
  /// lock.
  func act(_ body: (inout State) -> Void) {
    let (ended, mustOpen) = state.withLock { state -> ([RPCStream], Bool) in
      body(&state)
      state.settle()
      let mustOpen = state.mustOpen()
      // The event loop keeps this peer alive while a time is set, so an idle peer sets no time.
      if state.isIdle { state.nextCheck = .max }
      if state.nextCheck != state.alarm {
        if let loop = EventLoop.shared {
          state.alarm = state.nextCheck
          loop.call(self, at: state.nextCheck)
        } else {
          // Without a loop, nothing would end the wait for a connection.
          state.cannotOpen(RPCCallError(.unavailable, EventLoop.absence))
        }
      }
      if state.ended.isEmpty { return ([], mustOpen) }
      defer { state.ended = [] }
      return (state.ended, mustOpen)
    }
    if mustOpen { open() }
    if ended.isEmpty { return }
    arrivals.withLock { $0.count -= ended.count }
    for stream in ended { stream.resume() }
  }
}

import CSQCurl
import SQBasics
import SQLibC

/// The sockets that the event loop waits for.
///
/// libcurl names the sockets, and ``applyChanges(for:)`` makes the event loop watch them. After
/// each response, libcurl removes the socket of an open connection and names it again for the next
/// request. Between the two, the socket stays watched, which saves two system calls for each
/// request. If the unused socket has an event, for example because the server closes the
/// connection, ``isWanted(_:)`` stops watching the socket.
struct SocketTable {
  private struct Entry {
    /// The events that libcurl requested.
    var wanted: SocketEvents = []
    /// The events for which the socket is watched; empty if it is not watched.
    var watched: SocketEvents = []
    /// Whether the SDK's callbacks open and close the socket.
    ///
    /// libcurl may close any other socket without a callback, so such a socket is not watched while
    /// it is unused.
    var isOwn = false
    /// Whether the socket is in ``named``.
    var isNamed = false
    var meter = WireMeter()
  }

  private let loop: EventLoop
  private var entries: [Entry] = []
  /// The sockets that libcurl has named since the last ``applyChanges(for:)``.
  private var named: [Int32] = []
  /// The sockets that the system could not watch, for lack of memory or because of a limit.
  private(set) var unwatched: [Int32] = []

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  mutating func opened(_ socket: Int32) {
    grow(socket)
    entries[Int(socket)] = Entry(isOwn: true)
  }

  /// Removes a socket that is about to be closed.
  mutating func closed(_ socket: Int32) {
    grow(socket)
    forget(socket)
    entries[Int(socket)] = Entry()
  }

  /// Records the events that libcurl's socket callback asks for.
  mutating func watch(_ socket: Int32, _ what: Int32) {
    grow(socket)
    let index = Int(socket)
    let wanted: SocketEvents =
      switch what {
      case sq_poll_in: .readable
      case sq_poll_out: .writable
      case sq_poll_both: [.readable, .writable]
      default: []
      }
    entries[index].wanted = wanted
    if wanted.isEmpty {
      if !entries[index].isOwn { forget(socket) }
    } else if !entries[index].isNamed {
      entries[index].isNamed = true
      named.append(socket)
    }
  }

  /// Makes the event loop watch the sockets that libcurl has named and still wants.
  ///
  /// It tries again to watch those that the system could not watch.
  mutating func applyChanges(for handler: any EventHandler) {
    named += unwatched
    unwatched.removeAll(keepingCapacity: true)
    for socket in named {
      let index = Int(socket)
      entries[index].isNamed = false
      let entry = entries[index]
      if entry.wanted.isEmpty || entry.wanted == entry.watched { continue }
      if loop.watch(socket, for: entry.wanted, by: handler) {
        entries[index].watched = entry.wanted
      } else {
        entries[index].watched = []
        entries[index].isNamed = true
        unwatched.append(socket)
      }
    }
    named.removeAll(keepingCapacity: true)
  }

  /// Returns the sockets that libcurl wants to read and that have data or have ended.
  ///
  /// It polls these sockets itself, because the event loop is in the middle of its work.
  func readable() -> [Int32] {
    var polled = awaited.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
    return polled.filter { $0.revents != 0 }.map(\.fd)
  }

  /// The sockets that libcurl wants to read.
  var awaited: [Int32] {
    entries.indices.filter { entries[$0].wanted.contains(.readable) }.map(Int32.init)
  }

  /// Counts a read of a socket, and returns whether the connection received far more bytes than its
  /// content needs.
  mutating func isFlooded(_ socket: Int32, content: Int64, allowance: Int64) -> Bool {
    grow(socket)
    return entries[Int(socket)].meter.isExceeded(
      at: socket, content: content, allowance: allowance)
  }

  /// Allows bytes that may still arrive at a socket for an abandoned transfer.
  mutating func expect(_ bytes: Int64, at socket: Int32) {
    grow(socket)
    entries[Int(socket)].meter.expect(bytes)
  }

  /// Returns whether libcurl waits for a socket that had an event; if not, stops watching the
  /// socket.
  mutating func isWanted(_ socket: Int32) -> Bool {
    grow(socket)
    if !entries[Int(socket)].wanted.isEmpty { return true }
    forget(socket)
    return false
  }

  private mutating func forget(_ socket: Int32) {
    if entries[Int(socket)].watched.isEmpty { return }
    loop.forget(socket)
    entries[Int(socket)].watched = []
  }

  private mutating func grow(_ socket: Int32) {
    while entries.count <= Int(socket) { entries.append(Entry()) }
  }
}

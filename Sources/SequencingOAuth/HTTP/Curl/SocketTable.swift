import CSQCurl
import Glibc

/// The sockets that the event loop waits for.
///
/// libcurl names the sockets, and ``applyChanges()`` registers them with epoll. After each
/// response, libcurl removes the socket of an open connection and names it again for the next
/// request. Between the two, the table leaves epoll unchanged, which saves two system calls for
/// each request. If the unused socket has an event (the server closes it), ``isWanted(_:)`` removes
/// it from epoll.
struct SocketTable {
  private struct Entry {
    /// The epoll events that libcurl requested.
    var wanted: UInt32 = 0
    /// The events for which the socket is registered with epoll; 0 if it is not registered.
    var registered: UInt32 = 0
    /// Whether the event loop's callbacks open and close the socket.
    ///
    /// libcurl may close other sockets without a callback, so an unused one does not stay in epoll.
    var isOwn = false
    /// Whether the socket is in ``named``.
    var isNamed = false
    var meter = WireMeter()
  }

  private let poller: Int32
  private var entries: [Entry] = []
  /// The sockets that libcurl has named since the last ``applyChanges()``.
  private(set) var named: [Int32] = []

  init(poller: Int32) {
    self.poller = poller
  }

  mutating func opened(_ socket: Int32) {
    grow(socket)
    entries[Int(socket)] = Entry(isOwn: true)
  }

  /// Removes a socket that is about to be closed.
  ///
  /// The kernel would remove it from epoll only if no copy of the socket exists.
  mutating func closed(_ socket: Int32) {
    grow(socket)
    unregister(socket)
    entries[Int(socket)] = Entry()
  }

  /// Records the events that libcurl's socket callback asks for.
  mutating func watch(_ socket: Int32, _ what: Int32) {
    grow(socket)
    let index = Int(socket)
    let wanted: UInt32 =
      switch what {
      case sq_poll_in: EPOLLIN.rawValue
      case sq_poll_out: EPOLLOUT.rawValue
      case sq_poll_both: EPOLLIN.rawValue | EPOLLOUT.rawValue
      default: 0
      }
    entries[index].wanted = wanted
    if wanted == 0 {
      if !entries[index].isOwn { unregister(socket) }
    } else if !entries[index].isNamed {
      entries[index].isNamed = true
      named.append(socket)
    }
  }

  /// Makes epoll watch the sockets that libcurl has named and still wants.
  mutating func applyChanges() {
    for socket in named {
      entries[Int(socket)].isNamed = false
      if wanted(socket) != 0 { register(socket) }
    }
    named.removeAll(keepingCapacity: true)
  }

  /// Returns the epoll events that libcurl waits for on a socket.
  func wanted(_ socket: Int32) -> UInt32 { entries[Int(socket)].wanted }

  /// Returns the sockets that libcurl wants to read and that have data or have ended.
  ///
  /// It polls the sockets instead of epoll, whose events only the loop's thread may take.
  func readable() -> [Int32] {
    var polled = awaited.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard sq_poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
    return polled.filter { $0.revents != 0 }.map(\.fd)
  }

  /// The sockets that libcurl wants to read.
  var awaited: [Int32] {
    entries.indices.filter { entries[$0].wanted & EPOLLIN.rawValue != 0 }.map(Int32.init)
  }

  /// Counts a read of a connection, and returns whether it received far more bytes than content.
  mutating func isFlooded(_ socket: Int32, content: Int64, allowance: Int64) -> Bool {
    grow(socket)
    return entries[Int(socket)].meter.isExceeded(
      at: socket, content: content, allowance: allowance)
  }

  /// Whether libcurl waits for a socket that had an event; if not, epoll drops the socket.
  mutating func isWanted(_ socket: Int32) -> Bool {
    grow(socket)
    if wanted(socket) != 0 { return true }
    unregister(socket)
    return false
  }

  /// Removes a socket from epoll, if it is registered.
  mutating func unregister(_ socket: Int32) {
    guard entries[Int(socket)].registered != 0 else { return }
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, nil)
    entries[Int(socket)].registered = 0
  }

  private mutating func register(_ socket: Int32) {
    let index = Int(socket)
    let entry = entries[index]
    guard entry.registered != entry.wanted else { return }
    var event = epoll_event(events: entry.wanted, data: epoll_data_t(fd: socket))
    if entry.registered != 0 {
      epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
    } else if epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) != 0, errno == EEXIST {
      epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event)
    }
    entries[index].registered = entry.wanted
  }

  private mutating func grow(_ socket: Int32) {
    while entries.count <= Int(socket) { entries.append(Entry()) }
  }
}

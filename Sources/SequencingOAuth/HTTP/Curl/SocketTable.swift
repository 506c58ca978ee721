import CCurl
import Glibc

/// Which sockets the event loop waits for: libcurl names them, and ``settle()`` tells epoll.
///
/// libcurl forgets a kept-alive connection's socket after each response and names it again for the
/// next request. epoll is left as it is meanwhile, which saves two system calls a request; if the
/// idle socket speaks up (the server closes it), ``isWanted(_:)`` puts epoll right.
struct SocketTable {
  private struct Entry {
    /// What libcurl asked for, as epoll events.
    var wanted: UInt32 = 0
    /// What epoll was told.
    var registered: UInt32 = 0
    /// Whether the event loop's callbacks open and close it.
    ///
    /// Other sockets may be closed without a word, so nothing is left standing for them.
    var isOwn = false
    /// Whether it is in ``named``.
    var isNamed = false
  }

  private let poller: Int32
  private var entries: [Entry] = []
  /// The sockets that libcurl has named since the last ``settle()``.
  private(set) var named: [Int32] = []

  init(poller: Int32) {
    self.poller = poller
  }

  mutating func opened(_ socket: Int32) {
    grow(socket)
    entries[Int(socket)] = Entry(isOwn: true)
  }

  /// The kernel takes a closed socket out of epoll by itself.
  mutating func closed(_ socket: Int32) {
    grow(socket)
    entries[Int(socket)] = Entry()
  }

  /// Does what libcurl's socket callback says.
  mutating func watch(_ socket: Int32, _ what: Int32) {
    grow(socket)
    let index = Int(socket)
    let wanted: UInt32 =
      switch what {
      case CURL_POLL_IN: EPOLLIN.rawValue
      case CURL_POLL_OUT: EPOLLOUT.rawValue
      case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
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
  mutating func settle() {
    for socket in named {
      entries[Int(socket)].isNamed = false
      if wanted(socket) != 0 { register(socket) }
    }
    named.removeAll(keepingCapacity: true)
  }

  /// What libcurl waits for at a socket that it has named, as epoll events.
  func wanted(_ socket: Int32) -> UInt32 { entries[Int(socket)].wanted }

  /// The sockets that libcurl wants to read from and that have something, or have come to their end.
  ///
  /// It asks the sockets and not epoll, whose bell is for the loop's thread alone.
  func readable() -> [Int32] {
    var polled = entries.indices.compactMap { index -> pollfd? in
      guard entries[index].wanted & EPOLLIN.rawValue != 0 else { return nil }
      return pollfd(fd: Int32(index), events: Int16(POLLIN), revents: 0)
    }
    guard sq_poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
    return polled.filter { $0.revents != 0 }.map(\.fd)
  }

  /// Whether an event that epoll reported is one that libcurl waits for.
  mutating func isWanted(_ socket: Int32) -> Bool {
    grow(socket)
    if wanted(socket) != 0 { return true }
    unregister(socket)
    return false
  }

  /// Takes a socket from epoll, if it is there.
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

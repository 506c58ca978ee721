import CCurl
import Glibc

/// Which sockets the event loop waits for, kept in step between libcurl and epoll.
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
    /// Whether it was opened and will be closed through the event loop's callbacks; others may be
    /// closed without a word, so nothing is left standing for them.
    var isOwn = false
  }

  /// Whether the sockets that are named now are kept from epoll, for a caller that waits itself.
  var isHeld = false {
    didSet {
      if isHeld { return }
      for socket in held { register(socket) }
      held.removeAll(keepingCapacity: true)
    }
  }

  private let poller: Int32
  private var entries: [Entry] = []
  private var held: [Int32] = []

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
    if isHeld {
      if entries[index].registered != 0 { unregister(socket) }
      if wanted != 0, !held.contains(socket) { held.append(socket) }
    } else if wanted != 0 || !entries[index].isOwn {
      register(socket)
    }
  }

  /// Waits for the sockets that are held, for so many nanoseconds at most.
  func wait(_ nanoseconds: UInt64) -> [(fd: Int32, events: UInt32)] {
    var polled = held.compactMap { socket -> pollfd? in
      let wanted = entries[Int(socket)].wanted
      // The bits of poll are those of epoll.
      return wanted == 0 ? nil : pollfd(fd: socket, events: Int16(wanted), revents: 0)
    }
    guard sq_poll(&polled, nfds_t(polled.count), nanoseconds) > 0 else { return [] }
    return polled.filter { $0.revents != 0 }.map { ($0.fd, UInt32(UInt16(bitPattern: $0.revents))) }
  }

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
    if entries[Int(socket)].wanted != 0 { return true }
    register(socket)
    return false
  }

  private mutating func unregister(_ socket: Int32) {
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, nil)
    entries[Int(socket)].registered = 0
  }

  private mutating func register(_ socket: Int32) {
    let index = Int(socket)
    let entry = entries[index]
    guard entry.registered != entry.wanted else { return }
    var event = epoll_event(events: entry.wanted, data: epoll_data_t(fd: socket))
    if entry.wanted == 0 {
      unregister(socket)
    } else if entry.registered != 0 {
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

internal import CCurl

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

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

  let poller: Int32
  private var entries: [Entry] = []

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
    if wanted != 0 || !entries[index].isOwn { register(socket) }
  }

  /// Whether an event that epoll reported is one that libcurl waits for.
  mutating func isWanted(_ socket: Int32) -> Bool {
    grow(socket)
    if entries[Int(socket)].wanted != 0 { return true }
    register(socket)
    return false
  }

  private mutating func register(_ socket: Int32) {
    let index = Int(socket)
    let entry = entries[index]
    guard entry.registered != entry.wanted else { return }
    var event = epoll_event(events: entry.wanted, data: epoll_data_t(fd: socket))
    if entry.wanted == 0 {
      epoll_ctl(poller, EPOLL_CTL_DEL, socket, &event)
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

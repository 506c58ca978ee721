#if os(Linux)
  import CSQSockets
  import SQLibC

  /// A poller that waits with epoll(7) and is woken through an eventfd(2).
  final class EpollPoller: SocketPoller {
    private let epoll: Int32
    let wakeUpDescriptor: Int32
    /// The maximum number of sockets that one wait reports; the next wait reports the others.
    private static let mostReported = 64

    init() throws(EventLoopFailure) {
      epoll = DescriptorNumber.aboveStandard(epoll_create1(Int32(EPOLL_CLOEXEC)))
      wakeUpDescriptor = DescriptorNumber.aboveStandard(
        eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
      // The descriptor is edge-triggered: every write wakes the thread once, and no read is
      // necessary.
      var event = Self.event(wakeUpDescriptor, EPOLLIN.rawValue | EPOLLET.rawValue)
      guard epoll >= 0, wakeUpDescriptor >= 0,
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUpDescriptor, &event) == 0
      else { throw EventLoopFailure(errno: errno) }
    }

    deinit {
      for descriptor in [epoll, wakeUpDescriptor] where descriptor >= 0 { close(descriptor) }
    }

    func set(_ socket: Int32, _ events: SocketEvents, isKnown: Bool) -> Bool {
      // The values of `SocketEvents`, including that of `once`, are those of epoll.
      var event = Self.event(socket, events.rawValue)
      // The kernel forgets a socket when it is closed, and its number may now belong to a new
      // socket. So if EPOLL_CTL_MOD fails, try EPOLL_CTL_ADD, and the other way round.
      let (first, second) =
        isKnown ? (EPOLL_CTL_MOD, EPOLL_CTL_ADD) : (EPOLL_CTL_ADD, EPOLL_CTL_MOD)
      return epoll_ctl(epoll, first, socket, &event) == 0
        || epoll_ctl(epoll, second, socket, &event) == 0
    }

    func remove(_ socket: Int32) {
      epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nil)
    }

    func wait(until deadline: UInt64, _ ready: inout [ReadySocket]) -> Bool? {
      withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.mostReported) {
        reported -> Bool? in
        // Since version 2.41, glibc declares the parameter as non-null, so unwrap the address.
        guard let first = reported.baseAddress else { return false }
        let count = epoll_wait(
          epoll, first, Int32(Self.mostReported), Monotonic.timeout(until: deadline))
        if count < 0 { return errno == EINTR ? false : nil }
        var isWoken = false
        for event in reported.prefix(Int(count)) {
          if event.data.fd == wakeUpDescriptor {
            isWoken = true
          } else {
            ready.append(ReadySocket(event.data.fd, SocketEvents(reported: event.events)))
          }
        }
        return isWoken
      }
    }

    private static func event(_ socket: Int32, _ events: UInt32) -> epoll_event {
      epoll_event(events: events, data: epoll_data_t(fd: socket))
    }
  }
#endif

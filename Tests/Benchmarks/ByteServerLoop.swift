import CSQCurl
import CSQSockets
import Glibc

/// The byte server in its own process, as one epoll loop.
///
/// It only checks where a request ends and which answer the request is for.
struct ByteServerLoop {
  private let listener: Int32
  private let poller = epoll_create1(0)
  /// The first parts of incomplete requests, by socket.
  private var unfinished: [Int32: [UInt8]] = [:]
  private var posts: UInt32 = 0
  /// The sockets with delayed answers, in the order of their times.
  private var later: [(socket: Int32, moment: ContinuousClock.Instant)] = []

  /// Starts the server and writes its port to the socket on standard output.
  init() {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, size)
        _ = listen(listener, 1024)
        _ = getsockname(listener, $0, &size)
      }
    }
    Self.say(UInt32(UInt16(bigEndian: address.sin_port)))
    watch(listener)
    watch(0)
  }

  mutating func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: 128)
    while true {
      let left = later.first.map { ($0.moment - .now) / .milliseconds(1) }
      let count = epoll_wait(
        poller, &events, 128, left.map { Int32(max(0, $0.rounded(.up))) } ?? -1)
      while let first = later.first, first.moment <= .now {
        send(Answers.token, first.socket)
        later.removeFirst()
      }
      for event in events.prefix(Int(max(0, count))) {
        switch event.data.fd {
        case 0: answerParent()
        case listener: acceptClient()
        default: answerClient(event.data.fd)
        }
      }
    }
  }

  private func acceptClient() {
    let socket = accept(listener, nil, nil)
    var on: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    watch(socket)
  }

  /// Answers any byte with the number of POST requests, and ends the process at the end of input.
  private func answerParent() {
    var byte: UInt8 = 0
    guard read(0, &byte, 1) == 1 else { exit(0) }
    Self.say(posts)
  }

  private mutating func answerClient(_ socket: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
      let count = recv(socket, buffer.baseAddress, buffer.count, 0)
      guard count > 0 else {
        unfinished[socket] = nil
        close(socket)
        return
      }
      let new = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      let old = unfinished.isEmpty ? nil : unfinished.removeValue(forKey: socket)
      guard var whole = old else {
        if !answer(new, socket) { unfinished[socket] = Array(new) }
        return
      }
      whole.append(contentsOf: new)
      if !whole.withUnsafeBytes({ answer($0, socket) }) { unfinished[socket] = whole }
    }
  }

  /// Answers a request, or returns `false` if it is incomplete.
  private mutating func answer(_ request: UnsafeRawBufferPointer, _ socket: Int32) -> Bool {
    guard Answers.isWhole(request) else { return false }
    if request.starts(with: Answers.post) {
      posts += 1
      // The server answers no other request during these 20 ms, so an unnecessary request costs
      // time.
      if request.starts(with: Answers.slowPost) { usleep(20_000) }
      if request.starts(with: Answers.farPost) {
        later.append((socket, .now + .milliseconds(20)))
        return true
      }
    }
    send(Answers.answer(to: request), socket)
    return true
  }

  private func send(_ answer: [UInt8], _ socket: Int32) {
    _ = answer.withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  private func watch(_ socket: Int32) {
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: socket))
    epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event)
  }

  private static func say(_ number: UInt32) {
    var bytes = number.littleEndian
    _ = write(1, &bytes, 4)
  }
}

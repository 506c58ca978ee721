import Foundation
import SQBasics
import SQLoopback
import TestSupport

/// A connection of a ``HostileServer``, on its own thread.
final class HostileConnection {
  /// A received frame, with the first bytes of its payload.
  struct Frame: Sendable {
    let kind: Bytes.Kind?
    let flags: Bytes.Flags
    let stream: UInt32
    let payload: [UInt8]

    /// Returns the four-byte number at a position of the payload.
    func number(at position: Int = 0) -> UInt32 {
      payload.dropFirst(position).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// The frames and bytes that the server received on a connection.
  struct Log: Sendable {
    /// The first frames.
    var frames: [Frame] = []
    /// The number of frames of each type.
    var counts: [Bytes.Kind: Int] = [:]
    /// The number of bytes of content on all streams.
    var content = 0
    /// The first bytes of this content.
    var contentStart: [UInt8] = []
    /// The HTTP/1 head that ``Step/head`` read.
    var head = ""
    var isOver = false

    /// The error code with which the client ended the connection.
    var goAway: UInt32? { frames.first { $0.kind == .goAway }?.number(at: 4) }

    /// Returns the error code with which the client reset a stream.
    func reset(of stream: UInt32 = 1) -> UInt32? {
      frames.first { $0.kind == .reset && $0.stream == stream }?.number()
    }
  }

  private static let keptFrames = 1000
  private static let keptBytes = 64
  private static let keptContent = 1 << 20

  private let socket: Int32
  private let change: ((inout Log) -> Void) -> Void
  private var received: ArraySlice<UInt8> = []
  private var isOpen = true
  private var content = 0

  init(_ socket: Int32, change: @escaping ((inout Log) -> Void) -> Void) {
    self.socket = socket
    self.change = change
  }

  func run(_ steps: [Step]) {
    for step in steps where isOpen { run(step) }
    while isOpen, let frame = readFrame() { note(frame) }
  }

  private func run(_ step: Step) {
    switch step {
    case .contact:
      var byte: UInt8 = 0
      if recv(socket, &byte, 1, Int32(MSG_PEEK)) <= 0 { isOpen = false }
    case .preface: _ = take(Bytes.preface.count)
    case .wait(let kind, let stream):
      read { $0.kind == kind && (stream == nil || $0.stream == stream) }
    case .content(let count): read { _ in content >= count }
    case .requestEnd(let stream): read { $0.stream == stream && $0.flags.contains(.endStream) }
    case .anything: if received.isEmpty { read() }
    case .head: readHead()
    case .send(let bytes): send(bytes)
    case .trickle(let bytes):
      for byte in bytes {
        send([byte])
        waitUntilDelivered()
      }
    case .flood(let bytes, let times): flood(bytes, times)
    case .pass(let gate): wait(at: gate)
    case .close: isOpen = false
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
      isOpen = false
    case .serve: serve { Bytes.answer(stream: $0) }
    case .answer(let answer): serve(answer)
    case .relay(let port, let piece): relay(to: port, piece)
    }
  }

  // MARK: Reading

  private func read() {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let outcome = piece.withUnsafeMutableBytes { SocketIO.receive(socket, into: $0) }
    if case .bytes(let count) = outcome {
      received += piece.prefix(count)
    } else {
      isOpen = false
    }
  }

  private func take(_ count: Int) -> [UInt8]? {
    while received.count < count, isOpen { read() }
    guard received.count >= count else { return nil }
    defer { received = received.dropFirst(count) }
    return Array(received.prefix(count))
  }

  private func readFrame() -> Frame? {
    guard let head = take(9) else { return nil }
    let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
    guard let payload = take(length) else { return nil }
    let frame = Frame(
      kind: Bytes.Kind(rawValue: head[3]), flags: Bytes.Flags(rawValue: head[4]),
      stream: head.suffix(4).reduce(0) { $0 << 8 | UInt32($1) },
      payload: Array(payload.prefix(Self.keptBytes)))
    if frame.kind == .data {
      content += length
      change { log in
        log.content += length
        log.contentStart += payload.prefix(Self.keptContent - log.contentStart.count)
      }
    }
    return frame
  }

  private func note(_ frame: Frame) {
    change { log in
      if log.frames.count < Self.keptFrames { log.frames.append(frame) }
      if let kind = frame.kind { log.counts[kind, default: 0] += 1 }
    }
  }

  /// Reads frames, at least one, until one of them is the last.
  private func read(until isLast: (Frame) -> Bool) {
    while let frame = readFrame() {
      note(frame)
      if isLast(frame) { return }
    }
  }

  private func readHead() {
    while isOpen, !String(decoding: received, as: UTF8.self).contains("\r\n\r\n") { read() }
    let head = String(decoding: received, as: UTF8.self)
    received = []
    change { $0.head = head }
  }

  /// Answers each request once it is complete.
  private func serve(_ answer: (UInt32) -> [UInt8]) {
    var open: Set<UInt32> = []
    while let frame = readFrame() {
      note(frame)
      switch frame.kind {
      case .headers: open.insert(frame.stream)
      default: break
      }
      let isEnd = frame.kind == .headers || frame.kind == .data
      if isEnd, frame.flags.contains(.endStream), open.remove(frame.stream) != nil {
        send(answer(frame.stream))
      }
    }
  }

  private func wait(at gate: Gate) {
    let semaphore = DispatchSemaphore(value: 0)
    Task {
      await gate.pass()
      semaphore.signal()
    }
    semaphore.wait()
  }

  // MARK: Writing

  /// Sends bytes, and returns `false` if the client has closed the connection.
  ///
  /// Even then, the bytes that the client sent earlier can still be read.
  @discardableResult
  private func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count, isOpen {
      let outcome = bytes.withUnsafeBytes {
        SocketIO.send(socket, UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      guard case .bytes(let count) = outcome else { return false }
      sent += count
    }
    return isOpen
  }

  private func flood(_ bytes: [UInt8], _ times: Int) {
    let batch = max(1, 16_384 / max(bytes.count, 1))
    let piece = [UInt8](repeatElement(bytes, count: batch).joined())
    for _ in 0..<(times / batch) where !send(piece) { return }
    send([UInt8](repeatElement(bytes, count: times % batch).joined()))
  }

  /// Returns once the client's system has received all sent bytes, or the connection has ended.
  private func waitUntilDelivered() {
    var info = tcp_info()
    var size = socklen_t(MemoryLayout<tcp_info>.size)
    while getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0,
      info.tcpi_unacked > 0
    { usleep(50) }
  }

  // MARK: Relaying

  private func relay(to port: UInt16, _ piece: Int) {
    defer { isOpen = false }
    guard let other = try? Sockets.stream(.ipv4) else { return }
    defer { Sockets.close(other) }
    guard Self.connect(other, port) else { return }
    let socket = socket
    let end = DispatchSemaphore(value: 0)
    let isStarted = Threads.start {
      Self.copy(from: other, to: socket, piece)
      end.signal()
    }
    Self.copy(from: socket, to: other, piece)
    if isStarted { end.wait() }
  }

  private static func connect(_ socket: Int32, _ port: UInt16) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func copy(from source: Int32, to target: Int32, _ size: Int) {
    var piece = [UInt8](repeating: 0, count: size)
    while true {
      let outcome = piece.withUnsafeMutableBytes { SocketIO.receive(source, into: $0) }
      guard case .bytes(let count) = outcome else { break }
      var sent = 0
      while sent < count {
        let outcome = piece.withUnsafeBytes {
          SocketIO.send(target, UnsafeRawBufferPointer(rebasing: $0[sent..<count]))
        }
        guard case .bytes(let more) = outcome else { break }
        sent += more
      }
    }
    shutdown(target, Int32(SHUT_WR))
    // The thread that copies in the other direction must end too.
    shutdown(source, Int32(SHUT_RD))
  }
}

import FoundationEssentials

@testable import SQBasics
@testable import SQHTTP2
@testable import SequencingOAuth
@testable import SequencingOAuthGRPC

extension Fuzzer {
  /// A fuzzer for the bytes that a server sends to a gRPC client, over one connection after
  /// another.
  static let connection = Fuzzer("grpc-connection") { input in
    for piece in [1, 9, 64 * 1024] {
      let client = FuzzedClient(Array(input), piece: piece)
      try client.run()
      try client.checkStreams()
      for wire in client.wires { try WireCheck(wire).check() }
      try client.checkCredit()
    }
  }
}

/// A gRPC client without sockets, with a call of each kind.
final class FuzzedClient {
  static let messageLimit = 300
  static let window: Int32 = 1000
  private static let maximumConnections = 8

  private var state = RPCPeer.State()
  private(set) var wires: [MemoryWire] = []
  private var rest: ArraySlice<UInt8>
  private let piece: Int
  private let inbox = MessageInbox()
  private var heads = 0
  private(set) var streams: [RPCStream] = []

  init(_ input: [UInt8], piece: Int) {
    rest = input[...]
    self.piece = piece
    let long = Data(repeating: 7, count: 100_000)
    let outbox = MessageOutbox()
    streams = [
      stream(.message(Data([0, 0, 0, 0, 0]))), stream(.message(long)), stream(.outbox(outbox)),
      stream(.message(Data([0, 0, 0, 0, 0])), inbox: inbox),
    ]
    state.waiting = streams
  }

  private func stream(_ content: RPCStream.Content, inbox: MessageInbox? = nil) -> RPCStream {
    RPCStream(
      HeaderBlock([":method": "POST", ":scheme": "http", ":path": "/a/b", ":authority": "c"]),
      content: content, limit: Self.messageLimit, inbox: inbox, deadline: .max
    ) { [weak self] _ in self?.heads += 1 }
  }

  // MARK: The run

  func run() throws {
    while !rest.isEmpty || wires.isEmpty {
      guard let connection = try connection() else { break }
      let wire = wires[wires.count - 1]
      while !wire.rest.isEmpty, connection.failure == nil {
        step(connection)
        cancelInTheMiddle(connection, wire)
      }
      rest = wire.rest
      // ``MemoryWire`` takes only some bytes at a time; the rest is sent while the connection
      // exists.
      for _ in 0..<10 { step(connection) }
    }
    for wire in wires { wire.isEnding = true }
    for connection in [state.current].compactMap(\.self) + state.draining { step(connection) }
    state.cannotOpen(RPCCallError(.unavailable, "there is no further connection"))
  }

  /// Returns the connection for the next bytes, or `nil` if no call waits or the last permitted
  /// connection has ended.
  private func connection() throws -> RPCConnection? {
    if let current = state.current { return current }
    guard !state.waiting.isEmpty, wires.count < Self.maximumConnections else { return nil }
    let wire = MemoryWire(rest, piece: piece)
    wires.append(wire)
    var settings = HTTP2Session.Settings()
    settings.streamWindow = Self.window
    let connection = try RPCConnection(
      wire, host: "c", authority: "c:1", keepAlive: nil, settings: settings)
    state.current = connection
    state.settle()
    return connection
  }

  private func step(_ connection: RPCConnection) {
    while connection.read() {}
    state.settle()
  }

  private func cancelInTheMiddle(_ connection: RPCConnection, _ wire: MemoryWire) {
    guard wires.count == 1, wire.received.count > 200 else { return }
    connection.end(streams[1], .cancelled)
    connection.session?.resume(streams[2].id)
    connection.flush()
    state.settle()
  }

  // MARK: The rules

  func checkStreams() throws {
    try require(
      state.ended.count == streams.count, "\(state.ended.count) of \(streams.count) calls ended")
    try require(
      Set(state.ended.map { ObjectIdentifier($0) }).count == streams.count, "a call ended twice")
    try require(streams.allSatisfy { $0.result != nil }, "a call without a result")
    try require(heads <= streams.count, "\(heads) response heads for \(streams.count) calls")
    for stream in streams {
      switch stream.result {
      case .success(let answer): try require(answer.frames.count <= 1, "more than one message")
      case .failure(let error): try check(error)
      case nil: break
      }
    }
  }

  private func check(_ error: RPCCallError) throws {
    try require(error.message.isHarmless, "a message that cannot be shown")
    try require(error.message.count < 400, "a message of \(error.message.count) characters")
    try require(
      error.status != .ok && error.status.isKnown, "a failed call has the status \(error.status)")
    // A reset comes from the server, but its message is the SDK's.
    let isReset = error.message.contains(" reset the call: ")
    try require(
      error.isFromServer == isReset && error.metadata.isEmpty,
      "an error has the server's metadata, or the wrong origin")
  }

  /// Requires that, for each stream, the client asks for no more bytes than the reader has read.
  func checkCredit() throws {
    let unread = unreadBytes()
    guard wires.count == 1, let wire = wires.first else { return }
    let check = try WireCheck(wire)
    for stream in streams where stream.id > 0 {
      let received = check.content[stream.id, default: 0]
      let credit = check.credit[stream.id, default: 0]
      let kept = stream === streams[3] ? unread : 0
      try require(
        credit + kept <= received,
        "the client asked for \(credit) more bytes: \(received) came, \(kept) are unread")
    }
  }

  private func unreadBytes() -> Int {
    inbox.finish(.success(()))
    let count = Locked(0)
    // After its end, the inbox gives all its messages at once.
    Task.startingHere { [inbox] in
      while case .success(let frame?)? = await inbox.next() {
        count.withLock { $0 += frame.wireLength }
      }
    }
    return count.withLock(\.self)
  }
}

/// The frames of a connection, in both directions.
private struct WireCheck {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let wire: MemoryWire
  /// The number of bytes of content that came on each stream.
  private(set) var content: [Int32: Int] = [:]
  /// The number of bytes that the client allowed for each stream, in addition to the initial
  /// window.
  private(set) var credit: [Int32: Int] = [:]
  private var sentFrames: [UInt8: Int] = [:]

  init(_ wire: MemoryWire) throws {
    self.wire = wire
    try require(
      wire.sent.starts(with: Self.preface.prefix(wire.sent.count)),
      "the connection preface is wrong")
    Self.read(wire.received[...]) { type, stream, payload in
      if type == 0 { content[stream, default: 0] += payload.count }
    }
    Self.read(wire.sent.dropFirst(Self.preface.count)) { type, stream, payload in
      sentFrames[type, default: 0] += 1
      if type == 8 {
        credit[stream, default: 0] += payload.reduce(0) { $0 << 8 | Int($1) }
      }
    }
  }

  /// Reads the complete frames, and the received part of the last one.
  private static func read(
    _ bytes: ArraySlice<UInt8>, _ body: (UInt8, Int32, ArraySlice<UInt8>) -> Void
  ) {
    var rest = bytes
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      let stream = head.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
      rest = rest.dropFirst(9)
      body(head[3], Int32(stream), rest.prefix(length))
      rest = rest.dropFirst(length)
    }
  }

  func check() throws {
    let windows = Int(HTTP2Session.Settings().connectionWindow)
    let received = wire.received.count
    try require(credit[0, default: 0] <= windows + received, "too large a window")
    try require(
      sentFrames.keys.allSatisfy { $0 <= 8 && $0 != 5 }, "a frame that no client may send")
    try require(sentFrames[7, default: 0] <= 1, "several GOAWAY frames")
    // A frame causes one answer at most, and a call is repeated only a few times.
    let answers = [4, 6, 3].reduce(0) { $0 + sentFrames[$1, default: 0] }
    try require(answers <= received / 9 + 30, "\(answers) answers to \(received) bytes")
    try require(sentFrames[1, default: 0] <= 4 * 5, "\(sentFrames[1, default: 0]) requests")
  }
}

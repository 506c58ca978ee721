import SQBasics
import SQFoundation
import SQHTTP2
import SequencingOAuth

/// One attempt to make a call: what it sends on a stream, and what it receives.
///
/// From its start until its continuation is resumed, use it only under the lock of its ``RPCPeer``.
final class RPCStream: @unchecked Sendable {
  /// The content of a request.
  enum Content {
    /// One message with its frame.
    case message(Data)
    /// The messages that the app sends.
    case outbox(MessageOutbox)
  }

  /// The answer of a server that ended the stream normally.
  struct Answer {
    let head: WebResponseHead
    let trailers: HeaderFields
    /// The messages; empty if they went to an inbox.
    let frames: [MessageFrame]
    /// Whether the last message is complete.
    let isAtEnd: Bool
  }

  let block: HeaderBlock
  private let content: Content
  /// The inbox that gets messages as they arrive; `nil` to keep them for the answer.
  private let inbox: MessageInbox?
  /// A closure that is called with the head when the head arrives.
  private let onHead: (WebResponseHead) -> Void
  /// The time at which the attempt must end, on the clock of `Monotonic`.
  let deadline: UInt64
  /// The secrets that the request sends.
  let secrets: CallSecrets

  /// The waiting caller, which is resumed with the result of the attempt.
  var continuation: CheckedContinuation<Result<Answer, RPCCallError>, Never>?
  var result: Result<Answer, RPCCallError>?

  /// The number of the stream on its connection; 0 while it has none.
  var id: Int32 = 0
  /// Whether the server may have seen the request.
  var isSent = false
  /// The HTTP/2 rule that the server's last frame broke, in nghttp2's words.
  var brokenRule: String?
  /// The number of connections that did not accept the attempt.
  private var moves = 0
  private(set) var isWaitingForContent = false

  /// How much of the message, or of ``replay``, was sent on this connection.
  private var position = 0
  /// The sent content of the outbox, kept while it may have to be sent again.
  private var replay = Data()
  private var isReplayable = true
  /// The most bytes of content to keep for sending again.
  private static let replayLimit = 256 * 1024

  private var section = ReceivedSection()
  private(set) var head: WebResponseHead?
  private var trailers = HeaderFields()
  private var hasMessages = false
  private var parser: FrameParser
  private var frames: [MessageFrame] = []
  private var discarded = 0
  /// The number of content bytes that were received.
  private var received = 0
  private var consumed = 0
  private var unread = 0

  init(
    _ block: HeaderBlock, content: Content, limit: Int, inbox: MessageInbox?, deadline: UInt64,
    secrets: CallSecrets = CallSecrets(), onHead: @escaping (WebResponseHead) -> Void
  ) {
    self.block = block
    self.content = content
    self.inbox = inbox
    self.deadline = deadline
    self.secrets = secrets
    self.onHead = onHead
    parser = FrameParser(limit: limit)
  }

  // MARK: Sending

  /// Whether the attempt can be made again on another connection.
  var isMovable: Bool { isReplayable && head == nil }

  /// Prepares the attempt for another connection; returns `false` if it was moved too often.
  func restart() -> Bool {
    moves += 1
    guard moves <= Self.maximumMoves else { return false }
    id = 0
    isSent = false
    brokenRule = nil
    position = 0
    isWaitingForContent = false
    section = ReceivedSection()
    return true
  }

  private static let maximumMoves = 4

  func content(into buffer: UnsafeMutableRawBufferPointer) -> HTTP2Session.Piece {
    switch content {
    case .message(let data): piece(of: data, into: buffer)
    case .outbox(let outbox): piece(of: outbox, into: buffer)
    }
  }

  private func piece(
    of data: Data, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece {
    let count = copy(data, into: buffer)
    return position == data.count ? .last(count) : .bytes(count)
  }

  private func copy(_ data: Data, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(data.count - position, buffer.count)
    data.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]))
    }
    position += count
    return count
  }

  private func piece(
    of outbox: MessageOutbox, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece {
    isWaitingForContent = false
    if position < replay.count { return .bytes(copy(replay, into: buffer)) }
    if !isReplayable { forgetReplay() }
    switch outbox.take(into: buffer) {
    case .bytes(let count):
      keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      return .bytes(count)
    case .wait:
      isWaitingForContent = true
      return .wait
    case .end: return .last(0)
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    guard isReplayable else { return }
    if replay.count + bytes.count <= Self.replayLimit {
      replay.append(contentsOf: bytes)
      position = replay.count
    } else {
      endReplay()
    }
  }

  /// Keeps no more content: the attempt is not made again.
  private func endReplay() {
    isReplayable = false
    // After a move, a part of the kept content may still have to be sent on this connection.
    if position == replay.count { forgetReplay() }
  }

  private func forgetReplay() {
    replay = Data()
    position = 0
  }

  // MARK: Receiving

  func sectionBegins() {
    section.begin()
  }

  /// Adds a field; returns `false` and ends the attempt if the response has too many fields.
  func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    if section.take(name, value) { return true }
    end(.tooManyFields)
    return false
  }

  func sectionEnds() {
    if head != nil {
      trailers = section.fields
      return
    }
    // Informational heads (status 1xx) come before the final head.
    guard section.status >= 200 else { return }
    let head = WebResponseHead(status: section.status, headers: section.fields)
    self.head = head
    endReplay()
    hasMessages = head.hasMessages
    onHead(head)
  }

  /// Reads content, and returns by how many bytes to reopen the receive window.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard result == nil else { return bytes.count }
    guard hasMessages else { return discard(bytes.count) }
    received += bytes.count
    do throws(RPCCallError) {
      let frames = try parser.take(bytes)
      if let inbox {
        unread += frames.reduce(0) { $0 + $1.wireLength }
        inbox.put(frames)
      } else {
        self.frames += frames
        if self.frames.count > 1 { throw .notOneMessage }
      }
    } catch {
      end(error)
    }
    return credit()
  }

  /// Records what the app has read, and returns by how many bytes to reopen the receive window.
  func hasRead(_ count: Int) -> Int {
    unread -= count
    return credit()
  }

  /// Returns by how many bytes to reopen the receive window.
  ///
  /// Bytes of an incomplete message reopen the window at once. When the message is complete, all
  /// its bytes count as unread, so the window was reopened too far. Later bytes do not reopen the
  /// window until this difference is made up.
  private func credit() -> Int {
    let more = max(received - unread - consumed, 0)
    consumed += more
    return more
  }

  /// Drops the content of a response that is not gRPC; more than 1 MiB of it ends the attempt.
  private func discard(_ count: Int) -> Int {
    discarded += count
    if discarded > 1 << 20 { finish() }
    return count
  }

  // MARK: The end

  /// Ends the attempt with the server's answer.
  func finish() {
    guard let head else {
      return end(RPCCallError(.internal, "the server ended the call without an answer"))
    }
    end(
      with: .success(
        Answer(
          head: head, trailers: trailers, frames: frames,
          isAtEnd: parser.isAtEnd)))
  }

  /// Ends the attempt with an error, unless it has a result.
  func end(_ error: RPCCallError) {
    end(with: .failure(error))
  }

  private func end(with result: Result<Answer, RPCCallError>) {
    if self.result == nil { self.result = result }
  }

  /// Resumes the caller with the result; call it outside the lock.
  func resume() {
    guard let result else { return }
    continuation.take()?.resume(returning: result)
  }
}

extension RPCCallError {
  static let notOneMessage = RPCCallError(.internal, "the server sent more than one message")
}

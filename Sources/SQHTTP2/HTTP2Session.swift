import CSQNghttp2
import SQBasics

/// One side of an HTTP/2 connection; nghttp2 handles frames, header compression and flow control.
///
/// It reads and writes memory, not sockets: pass received bytes to ``receive(_:)``, and send the
/// bytes from ``takeOutput(into:limit:)``. It has no lock: its owner must call it from one thread
/// at a time.
package final class HTTP2Session {
  /// The sizes and limits that this side announces.
  package struct Settings: Sendable {
    /// The maximum number of bytes of one stream's content that may be in flight or unread.
    package var streamWindow: Int32 = 256 * 1024
    /// The maximum number of bytes of all streams' content that may be in flight or unread.
    package var connectionWindow: Int32 = 16 * 1024 * 1024
    /// The maximum size of a header section in bytes, measured as in RFC 9113, section 6.5.2.
    package var headerBytes: UInt32 = 64 * 1024
    /// The maximum number of streams that a client may have open at once; only a server announces
    /// it.
    package var streams: UInt32 = 100

    package init() {}
  }

  /// The owner's answer when the session asks for the next content of a stream.
  package enum Piece {
    /// This many bytes were copied, at least one.
    case bytes(Int)
    /// This many bytes were copied, and they are the last.
    case last(Int)
    /// This many bytes were copied; they are the last before the trailers.
    case lastBeforeTrailers(Int, HeaderBlock)
    /// No content is ready yet. ``HTTP2Session/resume(_:)`` makes the session ask again.
    case wait
  }

  /// An error after which the session cannot continue, with nghttp2's text as the reason.
  package struct Failure: Error {
    package let reason: String
  }

  private var session: OpaquePointer?
  let isServer: Bool
  unowned(unsafe) let owner: any HTTP2SessionOwner
  /// The streams that the other side has reset, until they are closed.
  var resetRemotely: Set<Int32> = []
  /// Whether the other side has announced the end of the connection (a GOAWAY frame arrived).
  var hasReceivedGoAway = false
  /// The broken protocol rule that made this side end the connection, in nghttp2's words.
  package private(set) var brokenRule: String?

  /// The meter that compares the bytes that arrived with the content in them.
  var meter = ContentMeter()
  /// The maximum number of bytes of content in flight when this side resets a stream.
  let streamWindow: Int64

  /// Creates a session and puts its first frames into the output; `nil` if there is no memory.
  ///
  /// The owner must live as long as the session.
  package init?(isServer: Bool, settings: Settings = Settings(), owner: any HTTP2SessionOwner) {
    self.isServer = isServer
    self.owner = owner
    streamWindow = Int64(settings.streamWindow)
    guard let callbacks = Self.callbacks else { return nil }
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0 else { return nil }
    defer { nghttp2_option_del(options) }
    nghttp2_option_set_no_auto_window_update(options, 1)
    // nghttp2 keeps closed streams only for priorities, which no session uses.
    nghttp2_option_set_no_closed_streams(options, 1)
    // A value such as `grpc-message` may begin or end with a space. With this check, nghttp2 would
    // end the call.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1)
    let context = Unmanaged.passUnretained(self).toOpaque()
    let code =
      isServer
      ? nghttp2_session_server_new2(&session, callbacks, context, options)
      : nghttp2_session_client_new2(&session, callbacks, context, options)
    guard code == 0, announce(settings) else { return nil }
  }

  deinit {
    nghttp2_session_del(session)
  }

  private func announce(_ settings: Settings) -> Bool {
    var entries = [
      sq_setting(
        Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), UInt32(settings.streamWindow)),
      sq_setting(Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), settings.headerBytes),
    ]
    entries.append(
      isServer
        ? sq_setting(Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), settings.streams)
        : sq_setting(Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), 0))
    let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    return nghttp2_submit_settings(session, none, entries, entries.count) == 0
      && nghttp2_session_set_local_window_size(session, none, 0, settings.connectionWindow) == 0
  }

  // MARK: Bytes

  /// Parses bytes that arrived, and calls the owner's methods for the frames in them.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let start = bytes.bindMemory(to: UInt8.self).baseAddress
    let count = nghttp2_session_mem_recv(session, start, bytes.count)
    guard count == bytes.count else { throw Self.failure(Int32(count)) }
  }

  /// Counts bytes that arrived on the connection, including those of TLS.
  ///
  /// The time `now` comes from `Monotonic.now()`.
  package func arrived(_ count: Int, at now: UInt64) {
    meter.arrived(Int64(count), at: now)
  }

  /// Whether the other side sent far more bytes than its content needs.
  ///
  /// Endless empty frames are an example. The owner must then end the connection.
  ///
  /// - SeeAlso: RFC 9113, section 10.5
  package var isFlooded: Bool { meter.excess > ContentMeter.allowance }

  /// Appends bytes to send until none are left or the output has at least `limit` bytes.
  package func takeOutput(into output: inout [UInt8], limit: Int) throws(Failure) {
    while output.count < limit {
      var start: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &start)
      guard count >= 0 else { throw Self.failure(Int32(count)) }
      if count == 0 { return }
      output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Whether the session has bytes to send or expects some; if not, the connection is over.
  package var isAlive: Bool {
    nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
  }

  /// Whether new streams can be opened, as far as this side knows.
  package var acceptsStreams: Bool { nghttp2_session_check_request_allowed(session) != 0 }

  /// Whether a client's session ended the connection, usually because the server broke a rule.
  ///
  /// The session then receives nothing more. Once the output is taken, ``brokenRule`` names the
  /// rule. Do not use this property for a server's session, because its value has no meaning there.
  package var isTerminated: Bool {
    !acceptsStreams && !hasReceivedGoAway
      && nghttp2_session_get_next_stream_id(session) <= UInt32(Int32.max)
  }

  /// Sets ``brokenRule`` to the reason in a GOAWAY frame of this side, unless the frame reports no
  /// error.
  func noteBrokenRule(_ frame: nghttp2_goaway) {
    let code = HTTP2ErrorCode(rawValue: frame.error_code)
    guard code != .noError else { return }
    let reason = UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    brokenRule = reason.isEmpty ? "\(code)" : String(decoding: reason, as: UTF8.self)
  }

  // MARK: Streams

  /// Opens a stream with a request and returns its number; `nil` if no numbers are left.
  ///
  /// The owner provides the content through ``HTTP2SessionOwner/content(of:into:)``.
  package func request(_ block: HeaderBlock) -> Int32? {
    var source = nghttp2_data_provider(
      source: nghttp2_data_source(), read_callback: http2WantsContent)
    let stream = block.withFields { fields, count in
      nghttp2_submit_request(session, nil, fields, count, &source, nil)
    }
    return stream > 0 ? stream : nil
  }

  /// Answers a stream with a head, and with content from the owner if `hasContent` is set.
  package func respond(to stream: Int32, _ block: HeaderBlock, hasContent: Bool) {
    var source = nghttp2_data_provider(
      source: nghttp2_data_source(), read_callback: http2WantsContent)
    _ = block.withFields { fields, count in
      hasContent
        ? nghttp2_submit_response(session, stream, fields, count, &source)
        : nghttp2_submit_response(session, stream, fields, count, nil)
    }
  }

  /// Asks the owner for content again, after it answered ``Piece/wait``.
  package func resume(_ stream: Int32) {
    nghttp2_session_resume_data(session, stream)
  }

  /// Returns whether this side still has content of a stream to send.
  package func isSending(_ stream: Int32) -> Bool {
    nghttp2_session_get_stream_local_close(session, stream) == 0
  }

  /// Reopens a stream's receive window by `count` bytes.
  package func consume(_ count: Int, of stream: Int32) {
    nghttp2_session_consume_stream(session, stream, count)
  }

  /// Reopens the connection's receive window by `count` bytes.
  package func consumeOfConnection(_ count: Int) {
    nghttp2_session_consume_connection(session, count)
  }

  /// Ends a stream early, with a RST_STREAM frame.
  package func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  /// Asks the client to stop sending a request whose complete answer was sent.
  ///
  /// - SeeAlso: RFC 9113, section 8.1
  func endRequest(of stream: Int32) {
    guard nghttp2_session_get_stream_remote_close(session, stream) == 0 else { return }
    reset(stream, .noError)
  }

  // MARK: The connection

  package func ping() {
    nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Announces the end of the connection; open streams are lost.
  package func terminate(_ code: HTTP2ErrorCode = .noError) {
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// Announces that this side accepts no new streams; open streams may finish.
  package func shutDown() {
    let last = nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  private static func failure(_ code: Int32) -> Failure {
    Failure(reason: String(cString: nghttp2_strerror(code)))
  }
}

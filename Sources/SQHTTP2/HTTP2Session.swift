import CSQNghttp2
import SQBasics

/// One side of an HTTP/2 connection: frames, header compression and flow control, by nghttp2.
///
/// It reads and writes memory, not sockets: pass what arrives to ``receive(_:)``, and send what
/// ``takeOutput(into:limit:)`` gives. It has no lock; its owner calls it from one thread at a time.
package final class HTTP2Session {
  /// The sizes and limits that this side announces.
  package struct Settings: Sendable {
    /// How many bytes of one stream's content may be on the way or unread.
    package var streamWindow: Int32 = 256 * 1024
    /// How many bytes of all streams' content may be on the way.
    package var connectionWindow: Int32 = 16 * 1024 * 1024
    /// How many bytes a header section may have, by the measure of RFC 9113, section 6.5.2.
    package var headerBytes: UInt32 = 64 * 1024
    /// How many streams the other side may open at a time; only a server says it.
    package var streams: UInt32 = 100

    package init() {}
  }

  /// The answer to the question for more content.
  package enum Piece {
    /// So many bytes were copied, at least one.
    case bytes(Int)
    /// These bytes were copied, and they are the last.
    case last(Int)
    /// These bytes were copied, and trailers follow them.
    case lastBeforeTrailers(Int, HeaderBlock)
    /// There is none yet; ``HTTP2Session/resume(_:)`` asks again.
    case wait
  }

  /// The session cannot go on, in nghttp2's words.
  package struct Failure: Error {
    package let reason: String
  }

  private var session: OpaquePointer?
  let isServer: Bool
  unowned(unsafe) let owner: any HTTP2SessionOwner
  /// The streams that the other side has reset, until they are closed.
  var resetRemotely: Set<Int32> = []
  /// Whether the other side has announced the end of the connection.
  var hasReceivedGoAway = false
  /// The rule that the other side broke, so that this side ended the connection; in nghttp2's words.
  package private(set) var brokenRule: String?

  /// What came over the connection, and what of it was content.
  var meter = ContentMeter()
  /// How much content of a stream may be on the way when this side resets the stream.
  let streamWindow: Int64

  /// Makes a session and puts its first frames into the output; `nil` if there is no memory.
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
    // Closed streams need no memory here: nobody uses priorities.
    nghttp2_option_set_no_closed_streams(options, 1)
    // A text such as `grpc-message` may begin or end with a space, which would end the call.
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

  /// Takes bytes that arrived, and tells the owner what they mean.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let start = bytes.bindMemory(to: UInt8.self).baseAddress
    let count = nghttp2_session_mem_recv(session, start, bytes.count)
    guard count == bytes.count else { throw Self.failure(Int32(count)) }
  }

  /// Counts bytes that came over the connection, with those of TLS, at a time of ``SocketLoop``.
  package func arrived(_ count: Int, at now: UInt64) {
    meter.arrived(Int64(count), at: now)
  }

  /// Whether the other side sent far more bytes than its content needs, such as empty frames without
  /// end; the owner must end the connection then.
  ///
  /// - SeeAlso: RFC 9113, section 10.5
  package var isFlooded: Bool { meter.excess > ContentMeter.allowance }

  /// Appends bytes to send, until there is nothing to send or the output has so many bytes.
  package func takeOutput(into output: inout [UInt8], limit: Int) throws(Failure) {
    while output.count < limit {
      var start: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &start)
      guard count >= 0 else { throw Self.failure(Int32(count)) }
      if count == 0 { return }
      output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Whether the session has more to say or to hear; if not, the connection is over.
  package var isAlive: Bool {
    nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
  }

  /// Whether the other side still takes new streams, as far as is known.
  package var acceptsStreams: Bool { nghttp2_session_check_request_allowed(session) != 0 }

  /// Whether a client has ended the connection, because the server broke a rule for the connection.
  ///
  /// Nothing more is received. ``brokenRule`` names the rule once the output is taken.
  package var isTerminated: Bool {
    !acceptsStreams && !hasReceivedGoAway
      && nghttp2_session_get_next_stream_id(session) <= UInt32(Int32.max)
  }

  /// Reads the reason in a frame with which this side ends the connection.
  func noteBrokenRule(_ frame: nghttp2_goaway) {
    let code = HTTP2ErrorCode(rawValue: frame.error_code)
    guard code != .noError else { return }
    let reason = UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    brokenRule = reason.isEmpty ? "\(code)" : String(decoding: reason, as: UTF8.self)
  }

  // MARK: Streams

  /// Opens a stream with a request, whose content the owner gives; returns the stream's number, or
  /// `nil` if the connection has none left.
  package func request(_ block: HeaderBlock) -> Int32? {
    var source = nghttp2_data_provider(
      source: nghttp2_data_source(), read_callback: http2WantsContent)
    let stream = block.withFields { fields, count in
      nghttp2_submit_request(session, nil, fields, count, &source, nil)
    }
    return stream > 0 ? stream : nil
  }

  /// Answers a stream with a head, and with content that the owner gives.
  package func respond(to stream: Int32, _ block: HeaderBlock, hasContent: Bool) {
    var source = nghttp2_data_provider(
      source: nghttp2_data_source(), read_callback: http2WantsContent)
    _ = block.withFields { fields, count in
      hasContent
        ? nghttp2_submit_response(session, stream, fields, count, &source)
        : nghttp2_submit_response(session, stream, fields, count, nil)
    }
  }

  /// Asks the owner again for content, after it answered ``Piece/wait``.
  package func resume(_ stream: Int32) {
    nghttp2_session_resume_data(session, stream)
  }

  /// Whether this side has not sent all of a stream's content.
  package func isSending(_ stream: Int32) -> Bool {
    nghttp2_session_get_stream_local_close(session, stream) == 0
  }

  /// Lets the other side send so many bytes of content of a stream again.
  package func consume(_ count: Int, of stream: Int32) {
    nghttp2_session_consume_stream(session, stream, count)
  }

  /// Lets the other side send so many bytes of content again on the connection as a whole.
  package func consumeOfConnection(_ count: Int) {
    nghttp2_session_consume_connection(session, count)
  }

  /// Ends a stream before its time.
  package func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  /// Asks the client to send no more of a request whose whole answer was sent.
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

  /// Says that this side ends the connection; what is under way is lost.
  package func terminate(_ code: HTTP2ErrorCode = .noError) {
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// Says that no further stream is taken; those that are open may end.
  package func shutDown() {
    let last = nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.noError.rawValue, nil, 0)
  }

  private static func failure(_ code: Int32) -> Failure {
    Failure(reason: String(cString: nghttp2_strerror(code)))
  }
}

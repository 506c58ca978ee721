import CSQNghttp2
import SQBasics

// The functions that nghttp2 calls. They are global functions, because a closure that is passed to
// C can inherit the isolation of its context and then trap on another thread.

extension HTTP2Session {
  /// The callback table that all sessions share; `nil` if there is no memory for it.
  nonisolated(unsafe) static let callbacks: OpaquePointer? = {
    var table: OpaquePointer?
    guard nghttp2_session_callbacks_new(&table) == 0 else { return nil }
    nghttp2_session_callbacks_set_on_begin_headers_callback(table, http2SectionBegins)
    nghttp2_session_callbacks_set_on_header_callback(table, http2ReceivedField)
    nghttp2_session_callbacks_set_on_frame_recv_callback(table, http2ReceivedFrame)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, http2ReceivedContent)
    nghttp2_session_callbacks_set_on_stream_close_callback(table, http2StreamClosed)
    nghttp2_session_callbacks_set_on_frame_send_callback(table, http2SentFrame)
    nghttp2_session_callbacks_set_on_frame_not_send_callback(table, http2DidNotSend)
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table, http2ReceivedInvalid)
    return table
  }()
}

private typealias Frame = UnsafePointer<nghttp2_frame>

private func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
  context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}

private func isEnd(_ frame: Frame) -> Bool {
  UInt32(frame.pointee.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
}

private func http2SectionBegins(
  _: OpaquePointer?, _ frame: Frame?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame else { return 0 }
  session(context)?.owner.sectionBegins(of: frame.pointee.hd.stream_id)
  return 0
}

private func http2ReceivedField(
  _: OpaquePointer?, _ frame: Frame?, _ name: UnsafePointer<UInt8>?, _ nameLength: Int,
  _ value: UnsafePointer<UInt8>?, _ valueLength: Int, _ flags: UInt8,
  _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let session = session(context) else { return 0 }
  session.meter.carried(Int64(nameLength + valueLength))
  let isTaken = session.owner.received(
    UnsafeRawBufferPointer(start: name, count: nameLength),
    UnsafeRawBufferPointer(start: value, count: valueLength), of: frame.pointee.hd.stream_id)
  return isTaken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

private func http2ReceivedFrame(
  _ handle: OpaquePointer?, _ frame: Frame?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let session = session(context) else { return 0 }
  let head = frame.pointee.hd
  let isAnswer = UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
  switch nghttp2_frame_type(rawValue: UInt32(head.type)) {
  case NGHTTP2_HEADERS:
    session.owner.sectionEnds(of: head.stream_id, isEnd: isEnd(frame))
  case NGHTTP2_DATA:
    if isEnd(frame) { session.owner.contentEnds(of: head.stream_id) }
  case NGHTTP2_RST_STREAM:
    // The frame may also arrive for a closed stream. nghttp2 reports no second close, so the
    // stream's number would stay in `resetRemotely`.
    if nghttp2_session_get_stream_remote_close(handle, head.stream_id) >= 0 {
      session.resetRemotely.insert(head.stream_id)
    }
  case NGHTTP2_SETTINGS:
    if !isAnswer { session.owner.receivedSettings() }
  case NGHTTP2_PING:
    if isAnswer { session.owner.receivedPong() }
  case NGHTTP2_GOAWAY:
    let frame = frame.pointee.goaway
    session.hasReceivedGoAway = true
    session.owner.receivedGoAway(
      HTTP2ErrorCode(rawValue: frame.error_code),
      debug: UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len))
  default: break
  }
  return 0
}

private func http2ReceivedContent(
  _: OpaquePointer?, _ flags: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let session = session(context) else { return 0 }
  session.meter.carried(Int64(count))
  session.owner.received(UnsafeRawBufferPointer(start: bytes, count: count), of: stream)
  return 0
}

private func http2StreamClosed(
  _: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let session = session(context) else { return 0 }
  let isRemote = session.resetRemotely.remove(stream) != nil
  session.owner.closed(stream, HTTP2ErrorCode(rawValue: code), isRemote: isRemote)
  return 0
}

private func http2SentFrame(
  _: OpaquePointer?, _ frame: Frame?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let session = session(context) else { return 0 }
  if isOpening(frame) { session.owner.hasOpened(frame.pointee.hd.stream_id) }
  if session.isServer, isEndOfAnswer(frame) { session.endRequest(of: frame.pointee.hd.stream_id) }
  switch nghttp2_frame_type(rawValue: UInt32(frame.pointee.hd.type)) {
  case NGHTTP2_GOAWAY: session.noteBrokenRule(frame.pointee.goaway)
  // After this side resets a stream, content in flight still arrives, and is dropped.
  case NGHTTP2_RST_STREAM: session.meter.expect(session.streamWindow)
  // The other side answers content with WINDOW_UPDATE frames, so the meter counts sent content.
  case NGHTTP2_DATA: session.meter.carried(Int64(frame.pointee.hd.length))
  default: break
  }
  return 0
}

private func isEndOfAnswer(_ frame: Frame) -> Bool {
  let type = UInt32(frame.pointee.hd.type)
  return (type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_DATA.rawValue) && isEnd(frame)
}

private func http2DidNotSend(
  _: OpaquePointer?, _ frame: Frame?, _ code: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, isOpening(frame) else { return 0 }
  session(context)?.owner.notOpened(
    frame.pointee.hd.stream_id, isTooLarge: code == NGHTTP2_ERR_FRAME_SIZE_ERROR.rawValue)
  return 0
}

private func isOpening(_ frame: Frame) -> Bool {
  UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue
    && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
}

private func http2ReceivedInvalid(
  _: OpaquePointer?, _ frame: Frame?, _ code: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  if let frame {
    session(context)?.owner.receivedInvalid(
      String(cString: nghttp2_strerror(code)), of: frame.pointee.hd.stream_id)
  }
  return 0
}

/// Gives nghttp2 the next content of a request or a response.
func http2WantsContent(
  _ handle: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?,
  _ room: Int, _ flags: UnsafeMutablePointer<UInt32>?,
  _: UnsafeMutablePointer<nghttp2_data_source>?, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let session = session(context), let flags else {
    return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
  }
  let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: room)
  switch session.owner.content(of: stream, into: buffer) {
  case .bytes(let count): return count
  case .wait: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
  case .last(let count):
    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
    return count
  case .lastBeforeTrailers(let count, let trailers):
    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue | NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
    _ = trailers.withFields { fields, number in
      nghttp2_submit_trailer(handle, stream, fields, number)
    }
    return count
  }
}

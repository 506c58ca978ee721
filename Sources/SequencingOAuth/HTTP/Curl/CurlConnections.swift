import CCurl

/// One of libcurl's multi handles, with connections that serve nothing but its own transfers.
///
/// It belongs to ``CurlMulti``.
final class CurlConnections {
  private let multi: UnsafeMutableRawPointer
  /// When libcurl wants to be called.
  private(set) var timer = UInt64.max
  /// How many transfers run.
  private var count = 0

  /// - Parameter areShared: Whether several transfers may use one at a time, over HTTP/2.
  /// - Throws: ``SQOAuthError/Code/connectionFailed`` if libcurl has no memory.
  init(areShared: Bool) throws(SQOAuthError) {
    guard let multi = curl_multi_init() else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started")
    }
    self.multi = multi
    let this = Unmanaged.passUnretained(self).toOpaque()
    sq_multi_set_timer_callback(multi, curlSetTimer, this)
    // libcurl's own default shrinks with the number of running requests and closes what it kept.
    sq_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 128)
    sq_multi_set_long(
      multi, CURLMOPT_PIPELINING, Int(areShared ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING))
  }

  /// Has libcurl say which sockets to watch.
  func watchSockets(_ context: UnsafeMutableRawPointer) {
    sq_multi_set_socket_callback(multi, curlWatchSocket, context)
  }

  /// libcurl's timer callback; a negative time means none.
  func setTimer(_ milliseconds: Int) {
    timer = milliseconds < 0 ? .max : TransferClock.now() + UInt64(milliseconds) * 1_000_000
  }

  /// Puts a transfer's handle to work; where libcurl does not take it, it is removed all the same.
  func add(_ handle: CurlHandle) -> Bool {
    count += 1
    return curl_multi_add_handle(multi, handle.easy) == CURLM_OK
  }

  func remove(_ handle: CurlHandle) {
    count -= 1
    curl_multi_remove_handle(multi, handle.easy)
  }

  /// Does what a socket is ready for; one of other connections is passed over.
  func handle(_ socket: Int32, _ mask: Int32) {
    guard count > 0 else { return }
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, mask, &running)
  }

  /// Does what is due by now.
  func advance(_ now: UInt64) {
    guard timer <= now else { return }
    timer = .max
    var running: Int32 = 0
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
  }

  /// The next transfer that has come to its end, and how.
  func nextEnded() -> (transfer: CurlTransfer, code: CURLcode)? {
    guard count > 0 else { return nil }
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let context = sq_get_private(easy),
        let transfer = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue().transfer
      else { continue }
      return (transfer, sq_message_result(message))
    }
    return nil
  }
}

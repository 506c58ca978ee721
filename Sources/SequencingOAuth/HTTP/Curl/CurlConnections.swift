import CSQCurl
import SQBasics

/// A multi handle of libcurl; only its own transfers use its connections.
///
/// ``CurlMulti`` owns it.
final class CurlConnections {
  private let multi: UnsafeMutableRawPointer
  /// When to call libcurl next, in nanoseconds of ``Monotonic``; `UInt64.max` for never.
  private(set) var timer = UInt64.max
  /// The number of running transfers.
  private var count = 0

  /// - Parameter areShared: Whether several transfers may use one connection at the same time, over
  ///   HTTP/2.
  /// - Throws: ``SQOAuthError/Code/connectionFailed`` if libcurl is out of memory.
  init(areShared: Bool) throws(SQOAuthError) {
    guard let multi = curl_multi_init() else {
      throw SQOAuthError(.connectionFailed, "libcurl could not be started")
    }
    self.multi = multi
    let this = Unmanaged.passUnretained(self).toOpaque()
    sq_multi_set_timer_callback(multi, curlSetTimer, this)
    // libcurl's default limit depends on the number of running requests, so libcurl would close
    // idle connections when that number falls.
    sq_multi_set_long(multi, CURLMOPT_MAXCONNECTS, DescriptorNumber.budget(atMost: 128))
    sq_multi_set_long(
      multi, CURLMOPT_PIPELINING, areShared ? sq_multiplex : sq_no_multiplex)
  }

  /// Makes libcurl report the sockets to watch; `context` is a pointer to the ``CurlMulti``.
  func watchSockets(_ context: UnsafeMutableRawPointer) {
    sq_multi_set_socket_callback(multi, curlWatchSocket, context)
  }

  /// Sets the time of the next call that libcurl asked for; a negative time means never.
  func setTimer(_ milliseconds: Int) {
    timer = milliseconds < 0 ? .max : Monotonic.now() + UInt64(milliseconds) * 1_000_000
  }

  /// Starts the transfer of a handle; returns `false` if libcurl rejects the handle.
  ///
  /// Call ``remove(_:)`` in both cases.
  func add(_ handle: CurlHandle) -> Bool {
    count += 1
    return curl_multi_add_handle(multi, handle.easy) == CURLM_OK
  }

  func remove(_ handle: CurlHandle) {
    count -= 1
    curl_multi_remove_handle(multi, handle.easy)
  }

  /// Makes libcurl read from and write to a ready socket; ignores a socket of another multi handle.
  ///
  /// - Returns: Whether there may be more to read.
  func handle(_ socket: Int32, _ mask: Int32) -> Bool {
    guard count > 0 else { return false }
    return act(socket, mask)
  }

  /// Calls libcurl if its timer is due; returns whether any socket may have more to read.
  func advance(_ now: UInt64) -> Bool {
    guard timer <= now else { return false }
    timer = .max
    return act(sq_timer_socket, 0)
  }

  private func act(_ socket: Int32, _ mask: Int32) -> Bool {
    ReadingTurn.take {
      var running: Int32 = 0
      curl_multi_socket_action(multi, socket, mask, &running)
    }
  }

  /// Returns the next transfer that has ended, with libcurl's code, or `nil` if there is none.
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

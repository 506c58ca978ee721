import CSQCurl
import CSQSockets
import SQBasics
import SQLibC

// The functions that libcurl calls. They are global functions, because a closure that is passed to
// C may carry the isolation of the place where it was written and trap on the loop's thread.
//
// All of them run under the event loop's lock.

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
  guard let context else { return nil }
  return Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
}

private func multi(_ context: UnsafeMutableRawPointer?) -> CurlMulti? {
  context.map { Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
}

func curlDidReceive(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  transfer(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

func curlDidReceiveField(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  transfer(context)?.receiveLine(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

func curlWantsBody(
  _ room: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let room = UnsafeMutableRawBufferPointer(start: room, count: size * count)
  return transfer(context)?.fill(room) ?? sq_read_abort
}

func curlWantsRewind(
  _ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32
) -> Int32 {
  guard origin == SEEK_SET, offset == 0, transfer(context)?.rewind() == true else {
    return sq_seek_failed
  }
  return sq_seek_done
}

func curlWillConnect(
  _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
  let transfer = transfer(context)
  transfer?.handle.recordErrors()
  transfer?.opening?.tries(socket)
  return sq_socket_accepted
}

func curlWillSend(
  _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
  _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
  transfer(context)?.willSend() == true ? sq_prerequest_go : sq_prerequest_abort
}

/// Aborts a transfer that must not continue; libcurl calls this progress callback after each read.
func curlHasRead(
  _ context: UnsafeMutableRawPointer?, _ total: curl_off_t, _ received: curl_off_t,
  _ totalToSend: curl_off_t, _ sent: curl_off_t
) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
    guard let transfer = handle.transfer else { return 0 }
    return multi(handle.multiContext)?.mayGoOn(transfer) == false ? 1 : 0
  }
}

func curlOpenSocket(
  _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let multi = multi(context), let address else { return sq_no_socket }
  let socket = DescriptorNumber.aboveStandard(
    sq_socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol))
  if socket >= 0 { multi.sockets.opened(socket) }
  return socket
}

func curlCloseSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
  multi(context)?.sockets.closed(socket)
  return close(socket)
}

func curlWatchSocket(
  _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
  _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
  multi(context)?.sockets.watch(socket, what)
  if let easy, what == sq_poll_in || what == sq_poll_both {
    transfer(sq_get_private(easy))?.socket = socket
  }
  return 0
}

func curlSetTimer(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<CurlConnections>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
  return 0
}

import CSQCurl
import SQBasics
import SQFoundation

// The methods that libcurl's callbacks call for the request.
extension CurlTransfer {
  /// Copies the next piece of the body and returns its length, which is 0 at the end of the body.
  ///
  /// Returns `CURL_READFUNC_PAUSE` if no piece is ready yet, and `CURL_READFUNC_ABORT` on failure.
  func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
    clock.touch()
    if case .bytes(let data) = request.body {
      let rest = data.dropFirst(sentOfBytes).prefix(room.count)
      rest.copyBytes(to: room)
      sentOfBytes += rest.count
      uncounted += Int64(rest.count)
      progress?.sent(Int64(sentOfBytes))
      return rest.count
    }
    guard let upload else { return sq_read_abort }
    switch upload.fill(room) {
    case .bytes(let count):
      uncounted += Int64(count)
      progress?.sent(upload.sent)
      return count
    case .wait:
      clock.isWaitingForWriter = true
      return sq_read_pause
    case .failed(let error):
      giveUp(error)
      return sq_read_abort
    }
  }

  /// Goes back to the first byte of the body, for another attempt to send it.
  func rewind() -> Bool {
    sentOfBytes = 0
    upload?.rewind()
    return true
  }

  /// Returns whether the request may be sent on the connection that is now ready.
  ///
  /// If an open connection turns out to be closed, libcurl tries again on a new one. The server may
  /// already have acted on the first copy, so a request that is not idempotent is not sent twice: a
  /// second use of a code or of a rotated refresh token can end the session.
  func willSend() -> Bool {
    handle.recordErrors()
    let now = Monotonic.now()
    guard now < clock.deadline else {
      // The request would be ended right after it was sent, and the server might still act on it.
      failure = failure ?? timeUp(now)
      return false
    }
    let isRepeated = attempts.withLock { $0 > 0 }
    guard clock.maySend() else {
      failure =
        failure
        ?? SQOAuthError(
          .requestTimedOut,
          "the machine slept, and the \((request.timeout ?? .zero).text) that the request to "
            + "\(target.authority) allows have passed; "
            + (isRepeated ? "it was not sent again" : "nothing was sent"))
      return false
    }
    if isRepeated, !request.isIdempotent {
      attempts.withLock { $0 += 1 }
      failure = SQOAuthError(
        .connectionFailed,
        "\(target.authority) closed the connection without an answer; it may have acted on the "
          + "request, so the request was not sent again")
      return false
    }
    do throws(SQOAuthError) {
      if isRepeated { try request.checkNotConsumed() }
    } catch {
      failure = error
      return false
    }
    attempts.withLock { $0 += 1 }
    clock.connected()
    return true
  }
}

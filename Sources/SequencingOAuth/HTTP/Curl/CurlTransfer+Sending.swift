import Basics
import CCurl

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What libcurl calls for the request.
extension CurlTransfer {
  /// Gives the next piece of the body; 0 at its end.
  func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
    clock.touch()
    if case .bytes(let data) = request.body {
      let rest = data.dropFirst(sentOfBytes).prefix(room.count)
      rest.copyBytes(to: room)
      sentOfBytes += rest.count
      progress?.sent(Int64(sentOfBytes))
      return rest.count
    }
    guard let upload else { return Int(CURL_READFUNC_ABORT) }
    switch upload.fill(room) {
    case .bytes(let count):
      progress?.sent(upload.sent)
      return count
    case .wait:
      clock.isWaitingForWriter = true
      return Int(CURL_READFUNC_PAUSE)
    case .failed(let error):
      giveUp(error)
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// Goes back to the first byte of the body, for another attempt.
  func rewind() -> Bool {
    sentOfBytes = 0
    upload?.rewind()
    return true
  }

  /// Whether the request may go out on the connection that is now ready.
  ///
  /// libcurl tries again on a new connection when a kept one turns out to be closed. The server may
  /// have acted on the first copy all the same, so what is not idempotent is not sent twice: a
  /// second use of a code or a rotated refresh token can end the session.
  func willSend() -> Bool {
    handle.recordErrors()
    let now = TransferClock.now()
    guard now < clock.deadline else {
      // It would be given up as soon as it is on its way, and the server may act on it all the same.
      failure = failure ?? timeUp(now)
      return false
    }
    let isRepeated = attempts.withLock { $0 > 0 }
    if isRepeated, !request.isIdempotent {
      attempts.withLock { $0 += 1 }
      failure = SQOAuthError(
        .connectionFailed,
        "\(target.authority) closed the connection without an answer; the request may have been "
          + "acted on, so it was not sent again")
      return false
    }
    do throws(SQOAuthError) {
      if isRepeated { try request.checkNotSpent() }
    } catch {
      failure = error
      return false
    }
    if joins, handle.hasConnected {
      foundNone = true
      return false
    }
    attempts.withLock { $0 += 1 }
    clock.connected()
    return true
  }

  /// Has it use a connection that is there, or open one; see ``CurlHandle/setJoining(_:)``.
  func join(_ joins: Bool) {
    self.joins = joins
    foundNone = false
    handle.setJoining(joins)
  }
}

import Foundation
import SQBasics
import SequencingOAuth
import Synchronization

/// Whether the process must stop itself at the next opportunity.
private let isArmed = Locked(false)

/// Stands in the place of the system's function in this program: a caller that waits for its own
/// request calls it when it has found nothing in the socket, at the latest when its time is over.
///
/// The process then stops as SIGSTOP does, between that look and the next one at the clock.
@_cdecl("sched_yield") public func yieldOrStop() -> Int32 {
  var blocked = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &blocked)
  // The event loop's own thread blocks even this one; what stops there would be the other way.
  guard sigismember(&blocked, SIGFPE) == 0 else { return 0 }
  let isNow = isArmed.withLock { isArmed in
    defer { isArmed = false }
    return isArmed
  }
  if isNow { raise(SIGSTOP) }
  return 0
}

/// Sends requests until one has stopped the process while its caller waited; returns its status.
func sendAlone(_ url: URL, within limit: Duration) async throws -> Int {
  // Callers wait themselves only where the last answer came in that time, and this one takes long.
  LoneRequests.longestWait.store(60_000_000_000, ordering: .relaxed)
  while true {
    isArmed.withLock { $0 = true }
    let status = try await send(url, within: limit)
    let hasStopped = isArmed.withLock { isArmed in
      defer { isArmed = false }
      return !isArmed
    }
    if hasStopped { return status }
  }
}

/// Sends two requests that leave the waiting to the event loop; returns the status of the second.
///
/// libcurl looks at its sockets for a while after it has opened a connection, and not at a kept
/// one.
func sendByLoop(_ url: URL, within limit: Duration) async throws -> Int {
  LoneRequests.longestWait.store(0, ordering: .relaxed)
  _ = try await send(url, within: limit)
  return try await send(url, within: limit)
}

/// Sends one request.
func send(_ url: URL, within limit: Duration) async throws -> Int {
  var request = HTTPRequest(method: "POST", url: url, body: .bytes(Data("x=y".utf8)))
  request.timeout = limit
  return try await CurlHTTPClient.shared.send(request).status
}

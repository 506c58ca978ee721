import Foundation
import SQBasics
import SequencingOAuth
import Synchronization

/// Whether the process must stop itself at the next opportunity.
private let isArmed = Locked(false)

/// Replaces the system's function in this program.
///
/// A caller that waits for its own request calls it when its socket has no data, at the latest when
/// its time limit passes. The process then stops as with SIGSTOP, between that check and the next
/// look at the clock.
@_cdecl("sched_yield") public func yieldOrStop() -> Int32 {
  var blocked = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &blocked)
  // The event loop's own thread blocks even this signal. A stop there would test the other way to
  // wait.
  guard sigismember(&blocked, SIGFPE) == 0 else { return 0 }
  let isNow = isArmed.withLock { isArmed in
    defer { isArmed = false }
    return isArmed
  }
  if isNow { raise(SIGSTOP) }
  return 0
}

/// Sends requests until one has stopped the process while its caller waited, and returns its
/// status.
func sendAlone(_ url: URL, within limit: Duration) async throws -> Int {
  // Callers wait by themselves only if the last answer came within this time, and this one is slow.
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

/// Sends two requests that wait in the event loop, and returns the status of the second.
///
/// libcurl polls its sockets for a while after it has opened a connection, but not on a kept one.
func sendByLoop(_ url: URL, within limit: Duration) async throws -> Int {
  LoneRequests.longestWait.store(0, ordering: .relaxed)
  _ = try await send(url, within: limit)
  return try await send(url, within: limit)
}

/// Sends one request and returns its status.
func send(_ url: URL, within limit: Duration) async throws -> Int {
  var request = WebRequest(method: "POST", url: url, body: .bytes(Data("x=y".utf8)))
  request.timeout = limit
  return try await CurlTransport.shared.send(request).status
}

import SQBasics
import SQHTTP2

/// The signs of life of one connection: when to ask the server whether it is there, and when to give
/// the connection up.
///
/// All times are nanoseconds of the clock of ``SocketLoop``; `UInt64.max` means never.
struct ConnectionPulse {
  /// What is due.
  enum Task {
    case none
    case ping
    /// The server has not answered the handshake, or a ping, in time.
    case giveUp(String)
    /// Nobody has used the connection for a while.
    case close
  }

  /// How long the server may take for its first bytes of HTTP/2, and for the answer to a ping.
  static let patience: UInt64 = 20_000_000_000
  /// How long a connection without calls is kept.
  static let idleTime: UInt64 = 120_000_000_000

  /// How long a connection with calls may be silent before the server is asked.
  private(set) var interval: UInt64
  /// Whether the server's settings have come: it certainly speaks HTTP/2.
  var isProven = false
  private var lastReceived: UInt64
  private let start: UInt64
  private var pingSent: UInt64?
  /// Since when there is no call; `nil` while there are calls.
  private var idleSince: UInt64?

  init(interval: Duration?) {
    let now = SocketLoop.now()
    self.interval = interval.map { UInt64($0.wholeNanoseconds) } ?? .max
    start = now
    lastReceived = now
    idleSince = now
  }

  mutating func isBusy(at now: UInt64) {
    // After a time without calls, the silence counts from the first call on.
    if idleSince != nil { lastReceived = now }
    idleSince = nil
  }

  mutating func isIdle(at now: UInt64) {
    idleSince = now
    pingSent = nil
  }

  mutating func hasReceived(at now: UInt64) {
    lastReceived = now
    pingSent = nil
  }

  mutating func isAnswered() {
    pingSent = nil
  }

  /// Doubles the interval, since the server finds it too short.
  mutating func slowDown() {
    interval = interval > .max / 2 ? .max : interval * 2
  }

  /// Makes the interval at least as long as that of an earlier connection.
  mutating func slowDown(to other: UInt64) {
    interval = max(interval, other)
  }

  /// The time at which ``task(at:)`` has something to do, if nothing happens until then.
  var due: UInt64 {
    if !isProven { return start + Self.patience }
    if let pingSent { return pingSent + Self.patience }
    if let idleSince { return idleSince + Self.idleTime }
    let (due, isTooLarge) = lastReceived.addingReportingOverflow(interval)
    return isTooLarge ? .max : due
  }

  mutating func task(at now: UInt64) -> Task {
    guard due <= now else { return .none }
    if !isProven { return .giveUp("did not begin HTTP/2 within 20 s") }
    if pingSent != nil { return .giveUp("did not answer a ping within 20 s") }
    if idleSince != nil { return .close }
    pingSent = now
    return .ping
  }
}

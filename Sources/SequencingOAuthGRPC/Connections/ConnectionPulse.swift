import SQBasics

/// The keep-alive rules of one connection: when to ping the server, and when to close it.
///
/// All times are nanoseconds of the clock of `Monotonic`; `UInt64.max` means never.
struct ConnectionPulse {
  /// The action that is due.
  enum Task {
    case none
    case ping
    /// End the connection, because the server did not begin HTTP/2 or answer a ping in time.
    case giveUp(String)
    /// Close the connection, because it was unused for ``ConnectionPulse/idleTime``.
    case close
  }

  /// The time limit for the server's first bytes of HTTP/2 and for the answer to a ping.
  static let patience: UInt64 = 20_000_000_000
  /// The time that a connection without calls stays open.
  static let idleTime: UInt64 = 120_000_000_000
  /// The silence after which the connection may be dead if a call reaches its time limit.
  static let doubtfulSilence: UInt64 = 10_000_000_000

  /// The longest silence on a connection with calls before a ping.
  private(set) var interval: UInt64
  /// Whether the server's settings have arrived, which proves that it speaks HTTP/2.
  var isProven = false
  private var lastReceived: UInt64
  private let start: UInt64
  private var pingSent: UInt64?
  /// The start of the current time without calls; `nil` while there are calls.
  private var idleSince: UInt64?
  /// The start of the first call since anything arrived; `nil` if no call has started since then.
  private var unansweredSince: UInt64?

  init(interval: Duration?) {
    let now = Monotonic.now()
    self.interval = interval.map { UInt64($0.wholeNanoseconds) } ?? .max
    start = now
    lastReceived = now
    idleSince = now
  }

  mutating func isBusy(at now: UInt64) {
    // After a time without calls, silence is measured from the first call. If the calls before that
    // time got no answer, the silence has not ended.
    if idleSince != nil, unansweredSince == nil { lastReceived = now }
    idleSince = nil
    unansweredSince = unansweredSince ?? now
  }

  mutating func isIdle(at now: UInt64) {
    idleSince = now
  }

  mutating func hasReceived(at now: UInt64) {
    lastReceived = now
    pingSent = nil
    unansweredSince = nil
  }

  /// Whether the server may be unreachable, because a call has reached its time limit, and nothing
  /// has arrived for a while since a call started.
  ///
  /// After a sleep of the machine or a change of its network, nothing else shows that a connection
  /// is dead, until TCP gives up after about 15 minutes.
  func isDoubtful(at now: UInt64) -> Bool {
    guard isProven, let unansweredSince else { return false }
    return unansweredSince + Self.doubtfulSilence <= now
  }

  mutating func isAnswered() {
    pingSent = nil
  }

  /// Doubles the interval, because the server complained about too many pings.
  mutating func slowDown() {
    interval = interval > .max / 2 ? .max : interval * 2
  }

  /// Makes the interval at least as long as the interval of an earlier connection.
  mutating func slowDown(to other: UInt64) {
    interval = max(interval, other)
  }

  /// The time at which ``task(at:)`` returns an action, if nothing else happens before.
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

import SQBasics
import SQFoundation

/// The data about servers that proofs need: the servers' nonces and clock differences.
///
/// All accounts of an environment share it. It remembers a limited number of servers, and forgets
/// the server that it has not used for the longest time.
///
/// - SeeAlso: RFC 9449, sections 8 and 9
package final class ProofServers: Sendable {
  /// The kind of a server; each kind has its own nonces, even at the same address.
  enum Role: Sendable, Hashable { case authorization, resource }

  /// A server: an origin, in one of its roles.
  struct Server: Sendable, Hashable {
    let origin: String
    let role: Role

    init(_ target: RequestTarget, _ role: Role) {
      origin = (target.isSecure ? "https://" : "http://") + target.authority
      self.role = role
    }
  }

  private struct Known {
    var nonce: String?
    /// How far this machine's clock is ahead of the server's; `nil` if no refusal has shown it.
    var clockLead: ClockLead?
    /// How far this machine's clock was ahead of the last response's date; `nil` if no response had
    /// a date.
    var dateLead: ClockLead?
  }

  /// How far this machine's clock was ahead of a server's at some moment.
  struct ClockLead: Sendable {
    fileprivate let seconds: Double
    /// The ``WallClock/dateOffset`` at that moment.
    fileprivate let dateOffset: Double

    /// Returns the lead in seconds; `nil` if this machine's date has been set since that moment,
    /// perhaps because it was wrong.
    func seconds(at dateOffset: Double) -> Double? {
      abs(dateOffset - self.dateOffset) <= ProofServers.tolerance ? seconds : nil
    }
  }

  /// The largest clock difference, in seconds, that every server is assumed to accept.
  static let tolerance = 5.0

  private let servers = Locked(RecentValues<Server, Known>(limit: 100))

  /// Returns the newest nonce of a server, and how far this machine's clock is ahead of the
  /// server's.
  func known(_ server: Server) -> (nonce: String?, clockLead: ClockLead?) {
    let known = servers.withLock { $0.use(server) }
    return (known?.nonce, known?.clockLead)
  }

  /// Remembers the nonce in a response, if it has one; a server may send one in each response.
  ///
  /// - SeeAlso: RFC 9449, section 8.2
  func learn(_ fields: HeaderFields, from server: Server) {
    let values = fields.values(for: ProofAdvice.nonceField)
    guard values.count == 1, let nonce = values.first, ProofAdvice.isNonce(nonce) else { return }
    change(server) { $0.nonce = nonce }
  }

  /// Remembers the nonce that an account's record has, unless a newer one is known.
  func resume(_ nonce: String?, of server: Server) {
    guard let nonce, ProofAdvice.isNonce(nonce) else { return }
    change(server) { $0.nonce = $0.nonce ?? nonce }
  }

  /// Remembers a server's time, and returns whether it differs much from the time known so far.
  func learnTime(
    _ fields: HeaderFields, from server: Server, by clock: any WallClock
  ) -> Bool {
    guard let lead = HTTPDate.lead(fields["Date"], at: clock.now),
      abs(lead) <= ProofAdvice.largestLead
    else {
      return false
    }
    let offset = clock.dateOffset
    return change(server) { known in
      guard abs(lead - (known.clockLead?.seconds(at: offset) ?? 0)) > Self.tolerance else {
        return false
      }
      known.clockLead = ClockLead(seconds: lead, dateOffset: offset)
      return true
    }
  }

  /// Remembers the date of a response, to explain errors; no proof is made with it.
  func note(_ fields: HeaderFields, from server: Server, by clock: any WallClock) {
    guard let lead = HTTPDate.lead(fields["Date"], at: clock.now) else { return }
    let noted = ClockLead(seconds: lead, dateOffset: clock.dateOffset)
    change(server) { $0.dateLead = noted }
  }

  /// Returns how far this machine's clock is ahead of a server's last date; `nil` if unknown.
  func dateLead(of server: Server, by clock: any WallClock) -> Duration? {
    servers.withLock { $0.use(server) }?.dateLead?.seconds(at: clock.dateOffset)
      .map { .seconds($0.rounded(.towardZero)) }
  }

  private func change<Value: Sendable>(_ server: Server, _ body: (inout Known) -> Value) -> Value {
    servers.withLock { servers in
      var known = servers.use(server) ?? Known()
      defer { servers.set(server, to: known) }
      return body(&known)
    }
  }
}

extension WallClock {
  /// The date minus the steady time, in seconds: it changes only when the date is set.
  var dateOffset: Double { ClockMoment(self).lead }

  /// Returns the time of a server, or this machine's if the difference is not known or does not count
  /// any more.
  func now(of lead: ProofServers.ClockLead?) -> Date {
    now.addingTimeInterval(-(lead?.seconds(at: dateOffset) ?? 0))
  }
}

/// A count of how often one request was repeated, with one token, because another proof may help.
///
/// A server may change its nonce with any response, also with one to another request of this
/// program. A new nonce may therefore be old before it arrives, and a demand for the newest one is
/// answered three times. For any other reason, a request is repeated once. So no server can make a
/// client send a request for ever.
///
/// - SeeAlso: RFC 9449, sections 8.2 and 9
struct ProofRepeats: Sendable, Hashable {
  static let mostForNonces = 3

  private var forNonces = 0
  private var forOtherReasons = 0

  /// Counts another repeat, and returns whether it is allowed.
  mutating func isAllowed(forNonce: Bool) -> Bool {
    guard forNonce else {
      forOtherReasons += 1
      return forOtherReasons <= 1
    }
    forNonces += 1
    return forNonces <= Self.mostForNonces
  }

  /// Whether the server has demanded a new nonce more often than is answered.
  var areUsedUpByNonces: Bool { forNonces >= Self.mostForNonces }

  /// The end of a message about a demand for yet another nonce.
  static let usedUp =
    "; it has demanded a new nonce \(mostForNonces + 1) times in a row, perhaps because each request "
    + "uses up the nonce of the others: send fewer requests at once"
}

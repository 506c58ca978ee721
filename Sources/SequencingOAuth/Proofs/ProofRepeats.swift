/// A count of how often one request was repeated with the same token.
///
/// A server can change its nonce in any response, even in the response to a different request of
/// this program. So a new nonce can be out of date before it is used, and a request is repeated up
/// to three times for a new nonce. For any other reason, a request is repeated once. These limits
/// prevent a server from making a client repeat a request forever.
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

  /// Whether all repeats for a new nonce are used up.
  var areUsedUpByNonces: Bool { forNonces >= Self.mostForNonces }

  /// The end of a message about a demand for yet another nonce.
  static let usedUp =
    "; it has demanded a new nonce \(mostForNonces + 1) times in a row, perhaps because each request "
    + "uses up the nonce of the others: send fewer requests at once"
}

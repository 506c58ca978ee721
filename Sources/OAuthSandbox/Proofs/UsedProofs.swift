/// The identifiers of accepted proofs, because each proof is accepted once.
///
/// They are removed when a proof with that date would be rejected anyway. If there are too many,
/// the oldest are removed earlier.
///
/// - SeeAlso: RFC 9449, section 11.1
struct UsedProofs {
  /// The maximum number of identifiers.
  static let most = 20_000

  private var ends: [String: Int] = [:]
  /// The hashes of the identifiers in order of arrival.
  private var order: [String] = []

  /// The number of remembered identifiers.
  var count: Int { ends.count }

  /// Records a proof until `end`, in seconds since 1970, and returns `false` if it was recorded
  /// before.
  mutating func note(_ id: String, until end: Int, now: Int) -> Bool {
    // The hash limits the memory, however long the identifier is.
    let key = Crypto.challenge(of: id)
    if let known = ends[key], known >= now { return false }
    if order.count >= Self.most { sweep(now) }
    if ends.updateValue(end, forKey: key) == nil { order.append(key) }
    return true
  }

  /// Removes what is over, and then the oldest half if that is not enough.
  private mutating func sweep(_ now: Int) {
    order.removeAll { ends[$0, default: 0] < now }
    if order.count > Self.most / 2 { order.removeFirst(order.count - Self.most / 2) }
    let kept = Set(order)
    ends = ends.filter { kept.contains($0.key) }
  }
}

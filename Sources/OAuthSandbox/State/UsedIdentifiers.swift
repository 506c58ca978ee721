import SQBasics

/// The identifiers of accepted proofs or assertions, each of which is accepted only once.
///
/// If there are more than ``most``, the oldest identifiers are forgotten early.
///
/// - SeeAlso: RFC 7523, section 3; RFC 9449, section 11.1
struct UsedIdentifiers {
  /// The maximum number of identifiers.
  static let most = 20_000

  /// The time until which each identifier counts as used, in seconds since 1970.
  private var ends = RecentValues<String, Int>(limit: most)

  /// The number of remembered identifiers.
  var count: Int { ends.count }

  /// Records an identifier until `end`, in seconds since 1970, and returns `false` if it was
  /// recorded before.
  mutating func note(_ id: String, until end: Int, now: Int) -> Bool {
    // The hash limits the memory, however long the identifier is.
    let key = Crypto.digest(of: id)
    if let known = ends.use(key), known >= now { return false }
    ends.set(key, to: end)
    return true
  }
}

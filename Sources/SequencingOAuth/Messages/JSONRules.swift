/// What a JSON text may be, and what it may cost.
struct JSONRules {
  var maximumBytes = Int.max
  /// How deep arrays and objects may stand in each other.
  var maximumDepth = 32
  var maximumValues = 10_000
  /// The largest sum of the depths of all values.
  ///
  /// A `Decodable` type is decoded in so many steps, since a decoder comes to each value from the
  /// outermost one.
  var maximumWeight = Int.max
  /// Whether a text is refused that two programs may read differently.
  ///
  /// Such a text has two members of one name in an object, or characters that must be repaired. What
  /// one program checked, another may then use in another sense. A text that goes from its server to
  /// this program alone may have such faults.
  ///
  /// - SeeAlso: RFC 7515, section 4; RFC 7519, section 4
  var isStrict = false

  /// A message of the protocol; none comes near these limits.
  static let message = JSONRules()

  /// A signed text's payload, or a set of keys.
  static let signed = JSONRules(isStrict: true)

  /// The header of a signed text, which anyone can send.
  static let header = JSONRules(
    maximumBytes: 16 << 10, maximumDepth: 8, maximumValues: 100, isStrict: true)

  /// An answer of an API: far more values than an API lists at once.
  static let answer = JSONRules(maximumValues: 500_000, maximumWeight: 2_000_000)

  /// What this program wrote itself.
  static let own = JSONRules(maximumDepth: 512, maximumValues: .max)
}

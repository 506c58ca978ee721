import SQBasics

/// The time for which a response may be reused, computed from its header fields.
enum HTTPFreshness {
  /// The shortest and the longest lifetime, in seconds.
  ///
  /// The lower bound keeps a server's mistake from making the SDK fetch a document each time. The
  /// upper bound keeps such a mistake from hiding a withdrawn key for days.
  private static let bounds = 300.0...86_400
  private static let usual = 3600.0

  /// Returns how long after its request a response may be reused, in seconds.
  ///
  /// The time begins at the request, because the time in transit counts (RFC 9111, section 4.2.3).
  ///
  /// - SeeAlso: RFC 9111, sections 4.2 and 5.2.2
  static func seconds(_ headers: HeaderFields) -> Double {
    // RFC 9110, section 5.3: several fields are one list.
    let fields = headers.values(for: "Cache-Control")
    guard !fields.isEmpty else { return usual }
    var lifetime = usual
    for directive in fields.joined(separator: ",").utf8.split(separator: UInt8(ascii: ",")) {
      let parts = directive.split(separator: UInt8(ascii: "="), maxSplits: 1)
      let name = parts.first.map { Substring($0.trimmed).asciiLowercased() } ?? ""
      if ["no-store", "no-cache"].contains(name) { return bounds.lowerBound }
      if name == "max-age", parts.count == 2 {
        let number = parts[1].filter { $0 != UInt8(ascii: "\"") && !$0.isBlank }
        lifetime = Double(String(decoding: number, as: UTF8.self)) ?? 0
      }
    }
    let age = headers["Age"].flatMap(Double.init) ?? 0
    let left = (lifetime - age).isFinite ? lifetime - max(age, 0) : 0
    return min(max(left, bounds.lowerBound), bounds.upperBound)
  }
}

import SQBasics

/// The time for which a response may be reused, computed from its header fields.
enum HTTPFreshness {
  /// The shortest and the longest lifetime, in seconds.
  ///
  /// A server's mistake must not make the SDK fetch a document each time, and must not hide a
  /// withdrawn key for days.
  private static let bounds = 300.0...86_400
  private static let usual = 3600.0

  /// Returns how long after its request a response may be reused, in seconds.
  ///
  /// - SeeAlso: RFC 9111, sections 4.2 and 5.2.2; the transit time counts (section 4.2.3)
  static func seconds(_ headers: HeaderFields) -> Double {
    // RFC 9110, section 5.3: several fields are one list.
    let fields = headers.values(for: "Cache-Control")
    guard !fields.isEmpty else { return usual }
    var lifetime = usual
    for directive in fields.joined(separator: ",").split(separator: ",") {
      let parts = directive.asciiLowercased().split(separator: "=", maxSplits: 1)
      let name = parts.first.map { $0.filter { $0 != " " && $0 != "\t" } } ?? ""
      if ["no-store", "no-cache"].contains(name) { return bounds.lowerBound }
      if name == "max-age", parts.count == 2 {
        lifetime = Double(parts[1].filter { $0 != "\"" && $0 != " " }) ?? 0
      }
    }
    let age = headers["Age"].flatMap(Double.init) ?? 0
    let left = (lifetime - age).isFinite ? lifetime - max(age, 0) : 0
    return min(max(left, bounds.lowerBound), bounds.upperBound)
  }
}

extension JSONValue {
  /// The scopes that this value of a member `scope` names, with spaces between them.
  ///
  /// RFC 6749 has one text, and some servers send a list of texts. Any other value is `nil`: then
  /// nobody knows the scopes, and they must not be taken for those that were asked for.
  ///
  /// - SeeAlso: RFC 6749, section 3.3; RFC 7662, section 2.2
  var scope: String? {
    guard let array else { return string }
    let texts = array.compactMap(\.string)
    return texts.count == array.count ? texts.joined(separator: " ") : nil
  }
}

extension [String: JSONValue] {
  /// The scopes that the member `scope` names: `other` if it is missing or `null`, and `nil` if it
  /// cannot be read.
  package func scope(ifMissing other: String?) -> String? {
    guard let value = self["scope"], value != .null else { return other }
    return value.scope
  }
}

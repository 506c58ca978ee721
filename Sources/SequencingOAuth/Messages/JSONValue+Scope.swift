extension JSONValue {
  /// The scopes in the value of a member such as `scope`, separated by spaces.
  ///
  /// RFC 6749 defines a single text, but some servers send a list of texts. Any other value results
  /// in `nil`: the scopes are then unknown, and must not be assumed to be the requested ones.
  ///
  /// - SeeAlso: RFC 6749, section 3.3; RFC 7662, section 2.2
  package var scope: String? {
    guard let array else { return string }
    let texts = array.compactMap(\.string)
    return texts.count == array.count ? texts.joined(separator: " ") : nil
  }
}

extension String {
  /// Whether the text is a single, valid scope (`scope-token`).
  ///
  /// - SeeAlso: RFC 6749, section 3.3
  var isScopeToken: Bool {
    !isEmpty
      && utf8.allSatisfy {
        (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
  }
}

extension [String: JSONValue] {
  /// Returns the scopes in the member `scope`; `nil` if they cannot be read.
  ///
  /// If the member is missing or `null`, it returns `other`.
  package func scope(ifMissing other: String?) -> String? {
    guard let value = self["scope"], value != .null else { return other }
    return value.scope
  }
}

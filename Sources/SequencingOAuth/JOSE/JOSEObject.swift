import SQFoundation

/// A reader of the JSON objects in signed texts and key sets.
///
/// Its rules are stricter than for other messages.
enum JOSEObject {
  /// Returns the members of an object.
  ///
  /// Throws if the text is not a JSON object, or if a name occurs twice in an object at any depth.
  ///
  /// - SeeAlso: RFC 7515, section 4; RFC 7519, section 4
  static func members(
    of text: Data, as name: String, _ rules: JSONRules = .signed
  ) throws(JWSFailure) -> [String: JSONValue] {
    do throws(JSONFailure) {
      if let members = try JSONReader.value(of: text, rules).object { return members }
    } catch .malformed, .utf16 {
    } catch {
      throw .malformed(error.description(of: name))
    }
    throw .malformed("the \(name) is no JSON object")
  }
}

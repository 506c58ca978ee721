#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the JSON objects of signed texts and key sets, more strictly than other messages.
enum JOSEObject {
  /// The members of an object, in which no name occurs twice at any depth.
  ///
  /// The text is UTF-8. The decoder would also read UTF-16 and UTF-32, where each JSON text has
  /// zero bytes.
  ///
  /// - SeeAlso: RFC 7515, section 4; RFC 7519, section 4
  static func members(
    of text: Data, as name: String
  ) throws(JWSFailure) -> [String: JSONValue] {
    guard !text.contains(0), let members = JSONMessage.members(of: text) else {
      throw .malformed("the \(name) is no JSON object")
    }
    guard JSONNames.areUnique(in: text) else {
      throw .malformed("the \(name) has two members of one name")
    }
    return members
  }
}

import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a server says about a refusal in a form of its own, without an OAuth error code.
///
/// Many servers put a sentence elsewhere than RFC 6749 has it: Facebook into `error.message`, WeChat
/// into `errmsg`, Okta into `errorSummary`, and frameworks into `message`, `errors` or `detail`. The
/// sentence only helps a developer; no code is read from such a body.
enum RefusalText {
  /// The members that hold a sentence, the most telling first, in lower case and without `_`.
  private static let sentences = [
    "errordescription", "message", "errmsg", "errormsg", "errormessage", "errorsummary", "detail",
    "details", "description", "msg", "faultstring", "reason", "title", "errorcode", "error",
  ]
  /// The members in which such an object stands.
  private static let containers = ["error", "errors", "errorcauses", "fault"]

  /// The sentence in a body, cut and without the request's secrets; `nil` if it has none.
  static func text(in body: Data, removing secrets: SentSecrets) -> String? {
    guard let value = try? JSONReader.value(of: body) else { return nil }
    return text(in: value, depth: 0).flatMap {
      let shown = secrets.removed(from: $0).printable
      return shown.isEmpty ? nil : shown
    }
  }

  private static func text(in value: JSONValue, depth: Int) -> String? {
    guard depth < 5 else { return nil }
    // Only what is in a container may be a sentence itself; a whole body may be anything.
    if let list = value.array {
      return list.first.flatMap {
        depth == 0 && $0.object == nil ? nil : text(in: $0, depth: depth + 1)
      }
    }
    guard let members = value.object else { return depth > 0 ? value.string : nil }
    let known = Dictionary(
      members.map { ($0.key.asciiLowercased().filter { $0 != "_" }, $0.value) },
      uniquingKeysWith: { first, _ in first })
    let inside = containers.lazy.compactMap { name in
      known[name].flatMap { $0.string == nil ? text(in: $0, depth: depth + 1) : nil }
    }
    return inside.first
      ?? sentences.lazy.compactMap { known[$0]?.string }.first { !$0.isEmpty }
  }
}

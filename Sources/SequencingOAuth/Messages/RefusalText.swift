import SQBasics
import SQFoundation

/// A server's explanation for a refusal, in its own format and without an OAuth error code.
///
/// Many servers do not put a sentence where RFC 6749 defines it: Facebook writes it in
/// `error.message`, WeChat in `errmsg`, Okta in `errorSummary`, and frameworks in `message`,
/// `errors` or `detail`. The sentence only helps a developer; no code is read from such a body.
enum RefusalText {
  /// The members that may hold a sentence, best first, in lower case and without `_`.
  private static let sentences = [
    "errordescription", "message", "errmsg", "errormsg", "errormessage", "errorsummary", "detail",
    "details", "description", "msg", "faultstring", "reason", "title", "errorcode", "error",
  ]
  /// The members that may hold an object with a sentence.
  private static let containers = ["error", "errors", "errorcauses", "fault"]

  /// Returns the sentence in a body, cut and without the request's secrets; `nil` if there is none.
  static func text(in body: Data, removing secrets: SentSecrets) -> String? {
    guard let value = try? JSONReader.value(of: body) else { return nil }
    return text(in: value, depth: 0).flatMap {
      let shown = secrets.removed(from: $0).printable
      return shown.isEmpty ? nil : shown
    }
  }

  private static func text(in value: JSONValue, depth: Int) -> String? {
    guard depth < 5 else { return nil }
    // A body that is only a text or a list of texts may say anything, so it is not an explanation.
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

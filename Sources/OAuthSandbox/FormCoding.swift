import SQBasics
import SQFoundation

/// A codec for `application/x-www-form-urlencoded`, based on Foundation.
///
/// The SDK has its own codec. If both sides shared one, they would share its mistakes.
enum FormCoding {
  /// Decodes the pairs in order, and returns `nil` if the text is not a valid query.
  ///
  /// A text with a malformed escape, or with an escape that is not UTF-8, is not valid.
  static func decode(_ text: String) -> [SandboxParameter]? {
    guard !text.isEmpty else { return [] }
    let query = text.split(separator: "&").map { $0.replacing("+", with: "%20") }
    guard hasOnlyWholeEscapes(text),
      let components = URLComponents(
        string: "?" + query.joined(separator: "&"), encodingInvalidCharacters: false),
      components.fragment == nil, let items = components.queryItems
    else { return nil }
    var parameters: [SandboxParameter] = []
    for (item, source) in zip(items, query) {
      // URLComponents turns a name that is not UTF-8 into an empty name, and a value that is not
      // UTF-8 into `nil`. Reject both.
      guard item.value != nil || !source.contains("="),
        !item.name.isEmpty || source.hasPrefix("=")
      else { return nil }
      parameters.append(SandboxParameter(name: item.name, value: item.value ?? ""))
    }
    return parameters
  }

  /// Percent-encodes all bytes except RFC 3986's unreserved characters.
  static func encode(_ value: String) -> String {
    var text = ""
    for byte in value.utf8 {
      if byte.isUnreserved {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return text
  }

  private static func hasOnlyWholeEscapes(_ text: String) -> Bool {
    text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy {
      $0.utf8.count >= 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
    }
  }
}

extension UInt8 {
  /// Whether the byte is an unreserved character of RFC 3986, section 2.3.
  var isUnreserved: Bool { isAlphanumeric || [0x2D, 0x2E, 0x5F, 0x7E].contains(self) }
}

public import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A name and a value of a query, a form or a header field, decoded.
public struct SandboxParameter: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The value.
  public let value: String
}

extension SandboxParameter: Redacted {
  /// The name, without the value, which may be a secret.
  public var description: String { name }
}

/// The form encoding of `application/x-www-form-urlencoded`, read and written by Foundation's own
/// means: a codec that the SDK shared could make the same mistake on both sides.
enum FormCoding {
  /// The decoded pairs in order; `nil` when an escape is broken or is no UTF-8.
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
      guard item.value != nil || !source.contains("=") else { return nil }
      parameters.append(SandboxParameter(name: item.name, value: item.value ?? ""))
    }
    return parameters
  }

  /// The value with everything but RFC 3986's unreserved characters escaped.
  static func encode(_ value: String) -> String {
    var text = ""
    for byte in value.utf8 {
      switch byte {
      case _ where byte.isAlphanumeric, 0x2D, 0x2E, 0x5F, 0x7E:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
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

extension [SandboxParameter] {
  /// The value of a name that came exactly once.
  func value(_ name: String) -> String? {
    let found = filter { $0.name == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// Names that came more than once, which RFC 6749, section 3.1, forbids.
  var hasDuplicates: Bool { Set(map(\.name)).count != count }
}

import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// JSON bodies of the protocol: checked by content type, decoded without echoing their text.
enum JSONMessage {
  /// Whether a response says that it is JSON: `application/json`, or a type that ends in `+json`.
  static func isJSON(_ response: HTTPResponse) -> Bool {
    guard let field = response.headers["Content-Type"] else { return false }
    let type = String(
      decoding: field.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 },
      as: UTF8.self
    ).lowercased()
    return type == "application/json"
      || (type.hasPrefix("application/") && type.hasSuffix("+json"))
  }

  /// The members of a body that is an object; `nil` for any other.
  static func members(of data: Data) -> [String: JSONValue]? {
    try? decode([String: JSONValue].self, from: data, as: "message")
  }

  /// Decodes a body; the error names the field and never quotes the content.
  static func decode<Message: Decodable>(
    _ type: Message.Type, from data: Data, as name: String,
    maximumValues: Int = JSONShape.maximumValues, with decoder: JSONDecoder = JSONDecoder()
  ) throws(SQOAuthError) -> Message {
    guard JSONShape.isBounded(data, maximumValues: maximumValues) else {
      throw SQOAuthError(.invalidResponse, "the \(name) is nested too deep or holds too much")
    }
    do {
      return try decoder.decode(type, from: data)
    } catch let error as DecodingError {
      throw SQOAuthError(.invalidResponse, "the \(name) is not the JSON it must be\(field(error))")
    } catch {
      // Of the app's own type, which has its reasons.
      throw SQOAuthError(
        .invalidResponse, "the \(name) was refused by the type that it was to be", cause: error)
    }
  }

  private static func field(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context), .keyNotFound(_, let context):
      guard let key = context.codingPath.first else { return "" }
      return ": check \"\(key.stringValue.printable)\""
    @unknown default:
      return ""
    }
  }
}

import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes the protocol's JSON bodies, and never repeats their text in an error.
enum JSONMessage {
  /// Whether the content type is JSON: `application/json`, or an application type that ends in
  /// `+json`.
  static func isJSON(_ response: HTTPResponse) -> Bool {
    guard let type = MediaType.essence(of: response.headers["Content-Type"]) else { return false }
    return type == "application/json"
      || (type.hasPrefix("application/") && type.hasSuffix("+json"))
  }

  /// The members of a body that is a JSON object; `nil` for any other body.
  static func members(of data: Data) -> [String: JSONValue]? {
    try? decode([String: JSONValue].self, from: data, as: "message")
  }

  /// Decodes a body; an error names the wrong field and never quotes the content.
  static func decode<Message: Decodable>(
    _ type: Message.Type, from data: Data, as name: String,
    maximumValues: Int = JSONShape.maximumValues, with decoder: JSONDecoder = JSONDecoder()
  ) throws(SQOAuthError) -> Message {
    guard JSONShape.isBounded(data, maximumValues: maximumValues) else {
      throw SQOAuthError(
        .invalidResponse, "the JSON of the \(name) is nested too deep or has too many values")
    }
    do {
      return try decoder.decode(type, from: data)
    } catch let error as DecodingError {
      throw SQOAuthError(
        .invalidResponse, "the \(name) is not JSON of the expected form\(field(error))")
    } catch {
      // The error comes from a type of the app, which has its own reasons.
      throw SQOAuthError(
        .invalidResponse, "the app's type could not be decoded from the \(name)", cause: error)
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

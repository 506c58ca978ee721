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
  static func members(of body: Data) -> [String: JSONValue]? {
    (try? JSONReader.value(of: body))?.object
  }

  /// The members of a body that must be a JSON object; an error never quotes the content.
  static func members(
    of body: Data, as name: String
  ) throws(SQOAuthError) -> [String: JSONValue] {
    do throws(JSONFailure) {
      if let members = try JSONReader.value(of: body).object { return members }
    } catch {
      throw SQOAuthError(.invalidResponse, error.description(of: name))
    }
    throw SQOAuthError(.invalidResponse, "the \(name) is no JSON object")
  }

  /// Decodes a body; an error names the wrong field and never quotes the content.
  static func decode<Message: Decodable>(
    _ type: Message.Type, from data: Data, as name: String, _ rules: JSONRules = .message,
    with decoder: JSONDecoder = JSONDecoder()
  ) throws(SQOAuthError) -> Message {
    // The limits hold before a decoder begins, whose work grows with the values times their depth.
    do throws(JSONFailure) {
      let value = try JSONReader.value(of: data, rules)
      if let message = value.asItIs(type) { return message }
    } catch .malformed where decoder.allowsJSON5 || decoder.assumesTopLevelDictionary {
      // The app's decoder reads more than JSON.
    } catch {
      throw SQOAuthError(.invalidResponse, error.description(of: name))
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

extension JSONValue {
  /// The value, its elements or its members, if that is the type; it need not be decoded then.
  fileprivate func asItIs<Message>(_ type: Message.Type) -> Message? {
    switch type {
    case is JSONValue.Type: self as? Message
    case is [JSONValue].Type: array as? Message
    case is [String: JSONValue].Type: object as? Message
    default: nil
    }
  }
}

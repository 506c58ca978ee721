import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the protocol's JSON bodies, and never repeats their text in an error.
package enum JSONMessage {
  /// Whether the content type is JSON: `application/json`, or an application type that ends in
  /// `+json`.
  package static func isJSON(_ response: HTTPResponse) -> Bool {
    guard let type = MediaType.essence(of: response.headers["Content-Type"]) else { return false }
    return type == "application/json"
      || (type.hasPrefix("application/") && type.hasSuffix("+json"))
  }

  /// The members of a body that is a JSON object; `nil` for any other body.
  static func members(of body: Data) -> [String: JSONValue]? {
    (try? JSONReader.value(of: body))?.object
  }

  /// The members of a body that must be a JSON object; an error never quotes the content.
  package static func members(
    of body: Data, as name: String
  ) throws(SQOAuthError) -> [String: JSONValue] {
    do throws(JSONFailure) {
      if let members = try JSONReader.value(of: body).object { return members }
    } catch {
      throw SQOAuthError(.invalidResponse, error.description(of: name))
    }
    throw SQOAuthError(.invalidResponse, "the \(name) is no JSON object")
  }
}

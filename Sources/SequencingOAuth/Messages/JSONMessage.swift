import SQBasics
package import SQFoundation

/// A parser of the protocol's JSON bodies; its errors never show a body's content.
package enum JSONMessage {
  /// Returns whether the content type is `application/json`, or an application type that ends in
  /// `+json`.
  package static func isJSON(_ response: WebResponse) -> Bool {
    guard let type = MediaType.essence(of: response.headers["Content-Type"]) else { return false }
    return type == "application/json"
      || (type.hasPrefix("application/") && type.hasSuffix("+json"))
  }

  /// Returns the members of a JSON object; `nil` if the body is anything else.
  package static func members(of body: Data) -> [String: JSONValue]? {
    (try? JSONReader.value(of: body))?.object
  }

  /// Returns the members of a JSON object; throws if the body is anything else.
  ///
  /// The error never quotes the body.
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

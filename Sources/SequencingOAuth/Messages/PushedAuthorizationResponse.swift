import SQBasics
import SQFoundation

/// A successful response to a pushed authorization request.
///
/// - SeeAlso: RFC 9126, sections 2.2 and 2.3
struct PushedAuthorizationResponse: Sendable, Redacted {
  /// The reference to the pushed parameters, `request_uri`, for one authorization request.
  let requestURI: String

  /// The size of the longest reference that the SDK puts into a URL, in bytes.
  private static let longestReference = 2048

  /// Parses the response to a request; `now` is the moment it arrived.
  ///
  /// The response's `expires_in` is not used: the browser opens at once, and only the server
  /// decides whether the reference is still valid.
  init(
    _ response: WebResponse, to request: PushedAuthorizationRequest, receivedAt now: Date
  ) throws(SQOAuthError) {
    do throws(SQOAuthError) {
      let members = try response.members(
        named: "pushed authorization response",
        by: "the pushed authorization request endpoint", removing: request.secrets, now: now)
      requestURI = try Self.reference(members["request_uri"] ?? .null)
    } catch {
      throw request.client.explaining(
        error.with(status: response.status, removing: request.secrets), after: response, at: now)
    }
  }

  private static func reference(_ value: JSONValue) throws(SQOAuthError) -> String {
    guard let text = value.string, text.utf8.count <= longestReference, text.isSendableToken else {
      throw SQOAuthError(
        .invalidResponse, "the pushed authorization response has no usable \"request_uri\"")
    }
    return text
  }
}

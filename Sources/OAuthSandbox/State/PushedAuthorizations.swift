import SQBasics
import SQFoundation

/// The sign-in parameters that clients have pushed, by their `request_uri`.
///
/// - SeeAlso: RFC 9126
struct PushedAuthorizations: Redacted {
  struct Request: Redacted {
    let clientID: String
    let parameters: [SandboxParameter]
    let expiry: Date
  }

  private static let prefix = "urn:ietf:params:oauth:request_uri:"

  private var requests: [String: Request] = [:]

  /// Adds a request and returns its reference; removes the requests that have expired.
  mutating func add(_ request: Request, at now: Date) -> String {
    requests = requests.filter { $0.value.expiry > now }
    let reference = Crypto.secret(Self.prefix)
    requests[reference] = request
    return reference
  }

  /// Removes and returns the request of a reference; a reference is valid once.
  ///
  /// Returns `nil` if the reference is unknown, has expired or belongs to another client.
  mutating func take(_ reference: String, of clientID: String, at now: Date) -> Request? {
    guard let request = requests[reference], request.clientID == clientID else { return nil }
    requests[reference] = nil
    return request.expiry > now ? request : nil
  }
}

/// The reason why a request's access token is rejected, and the challenge to answer with.
///
/// - SeeAlso: RFC 6750, section 3
package struct TokenRefusal: Error, Equatable {
  /// The HTTP status: 400, 401 or 403.
  package let status: Int
  /// A sentence for a developer; `nil` if the request has no token.
  package let message: String?
  /// The challenge's `error`, such as `invalid_token`.
  private let error: String?
  private let scope: String?

  init(
    _ status: Int, _ error: String? = nil, _ description: String? = nil, scope: String? = nil
  ) {
    self.status = status
    self.error = error
    message = description
    self.scope = scope
  }

  /// The value of `WWW-Authenticate`.
  package var challenge: String {
    var value = "Bearer realm=\"sandbox\""
    if let error { value += ", error=\"\(error)\"" }
    if let message { value += ", error_description=\"\(message)\"" }
    if let scope { value += ", scope=\"\(scope)\"" }
    return value
  }

  /// The HTTP answer, with the content of the challenge as JSON in its body.
  var answer: Answer {
    Answer(
      status: status, headers: [("WWW-Authenticate", challenge)],
      json: error.map { .error($0, message) } ?? [:])
  }
}

extension APIFault {
  init(_ refusal: TokenRefusal) {
    self.init(refusal.answer)
  }
}

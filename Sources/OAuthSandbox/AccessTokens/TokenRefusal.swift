/// The reason why a request's access token is rejected, and the challenge to answer with.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9449, section 7.1
package struct TokenRefusal: Error, Equatable {
  /// The ways to send a token that the challenge names.
  enum Scheme: Equatable {
    case bearer
    /// A token with a proof, which one of these algorithms signs.
    case dpop([String])
    case either([String])
  }

  /// The HTTP status: 400, 401 or 403.
  package let status: Int
  /// A sentence for a developer; `nil` if the request has no token.
  package let message: String?
  /// The challenge's `error`, such as `invalid_token`.
  private let error: String?
  private let scope: String?
  private let scheme: Scheme
  /// The additional header fields of the answer.
  var fields: [SandboxParameter] = []

  init(
    _ status: Int, _ error: String? = nil, _ description: String? = nil, scope: String? = nil,
    scheme: Scheme = .bearer
  ) {
    self.status = status
    self.error = error
    message = description
    self.scope = scope
    self.scheme = scheme
  }

  /// The value of `WWW-Authenticate`.
  package var challenge: String {
    var value = "realm=\"sandbox\""
    if let error { value += ", error=\"\(error)\"" }
    if let message { value += ", error_description=\"\(message)\"" }
    if let scope { value += ", scope=\"\(scope)\"" }
    func list(_ names: [String]) -> String { "algs=\"\(names.joined(separator: " "))\"" }
    return switch scheme {
    case .bearer: "Bearer \(value)"
    case .dpop(let names): "DPoP \(value), \(list(names))"
    case .either(let names): "Bearer \(value), DPoP \(list(names))"
    }
  }

  /// The HTTP answer, with the content of the challenge as JSON in its body.
  var answer: Answer {
    Answer(
      status: status,
      headers: [("WWW-Authenticate", challenge)] + fields.map { ($0.name, $0.value) },
      json: error.map { .error($0, message) } ?? [:])
  }
}

extension APIFault {
  init(_ refusal: TokenRefusal) {
    self.init(refusal.answer)
  }
}

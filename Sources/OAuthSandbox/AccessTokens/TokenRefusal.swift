/// The reason why a request's access token is rejected, and the challenge to answer with.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9449, section 7.1
package struct TokenRefusal: Error {
  /// The ways to send a token that the challenge names.
  enum Scheme: Equatable {
    case bearer
    /// A token with a proof.
    case dpop(SandboxDPoPOptions)
    case either(SandboxDPoPOptions)
  }

  /// The HTTP status: 400, 401 or 403.
  package let status: Int
  /// A sentence for a developer; `nil` if the request has no token.
  package let message: String?
  /// The challenge's `error`, such as `invalid_token`.
  private let error: String?
  private let scope: String?
  private let scheme: Scheme
  /// More parameters of the challenge, in order.
  var parameters: [(name: String, value: String)] = []
  /// The nonce that the next proof needs, if that is the reason.
  var nonceField: SandboxParameter?

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
  var challenge: String {
    var value = "realm=\"sandbox\""
    if let error { value += ", error=\"\(error)\"" }
    if let message { value += ", error_description=\"\(message)\"" }
    if let scope { value += ", scope=\"\(scope)\"" }
    for parameter in parameters { value += ", \(parameter.name)=\"\(parameter.value)\"" }
    return switch scheme {
    case .bearer: "Bearer \(value)"
    case .dpop(let options): options.challenge([value])
    case .either(let options): "Bearer \(value), " + options.challenge()
    }
  }

  /// The header fields of the answer: the challenge, and a nonce if the proof needs one.
  package var fields: [SandboxParameter] {
    [SandboxParameter(name: "WWW-Authenticate", value: challenge)] + (nonceField.map { [$0] } ?? [])
  }

  /// The HTTP answer, with the content of the challenge as JSON in its body.
  var answer: Answer {
    let headers = fields.map { (name: $0.name, value: $0.value) }
    if case .dpop(let options) = scheme, options.challengesAreBare {
      return Answer(status: status, headers: headers, content: .text(""))
    }
    return Answer(status: status, headers: headers, json: error.map { .error($0, message) } ?? [:])
  }
}

extension SandboxDPoPOptions {
  /// Returns a challenge with these parameters, and with the algorithms unless it is a bare one.
  fileprivate func challenge(_ parameters: [String] = []) -> String {
    let algorithms = "algs=\"\(algorithmNames.joined(separator: " "))\""
    let all = parameters + (challengesAreBare ? [] : [algorithms])
    return all.isEmpty ? challengeScheme : "\(challengeScheme) " + all.joined(separator: ", ")
  }
}

extension APIFault {
  init(_ refusal: TokenRefusal) {
    self.init(refusal.answer)
  }
}

/// The reason why a request's access token is rejected, and the challenge to answer with.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9449, section 7.1
package struct TokenRefusal: Error {
  /// The authentication schemes that the challenge names.
  enum Scheme: Equatable {
    case bearer
    /// A token with a proof.
    case dpop(SandboxDPoPOptions)
    case either(SandboxDPoPOptions)

    /// The options of the proofs; `nil` if the scheme has none.
    var options: SandboxDPoPOptions? {
      switch self {
      case .bearer: nil
      case .dpop(let options), .either(let options): options
      }
    }
  }

  /// The HTTP status: 400, 401 or 403.
  package let status: Int
  /// A sentence for a developer; `nil` if the request has no token.
  package let message: String?
  /// The challenge's `error`, such as `invalid_token`.
  private let error: String?
  private let scheme: Scheme
  /// The parameters of the challenge after `realm`, in order.
  var parameters: [(name: String, value: String)]
  /// The field with the nonce for the next proof; `nil` unless the proof lacks a valid nonce.
  var nonceField: SandboxParameter?

  init(
    _ status: Int, _ error: String? = nil, _ description: String? = nil, scope: String? = nil,
    scheme: Scheme = .bearer
  ) {
    self.status = status
    self.error = error
    message = description
    self.scheme = scheme
    let all = [("error", error), ("error_description", description), ("scope", scope)]
    parameters = all.compactMap { name, value in value.map { (name, $0) } }
  }

  /// The value of `WWW-Authenticate`.
  var challenge: String {
    let all = [(name: "realm", value: "sandbox")] + parameters
    let value = all.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
    return switch scheme {
    case .bearer: "Bearer \(value)"
    case .dpop(let options): options.challenge([value])
    case .either(let options): "Bearer \(value), " + options.challenge()
    }
  }

  /// The header fields of the answer: the challenge, and a nonce if the proof needs one.
  package var fields: [SandboxParameter] {
    [SandboxParameter(name: "WWW-Authenticate", value: challenge), nonceField].compactMap(\.self)
  }

  /// Creates the refusal of a token that lacks a required scope (RFC 6750, section 3.1).
  static func insufficientScope(_ scope: String?, scheme: Scheme) -> Self {
    Self(
      403, "insufficient_scope", "The access token lacks a required scope.", scope: scope,
      scheme: scheme)
  }

  /// Creates the refusal that demands a different or more recent login (RFC 9470, section 3).
  static func insufficientLogin(
    _ acrValues: [String], maxAge: Duration?, scheme: Scheme = .bearer
  ) -> Self {
    var refusal = Self(
      401, "insufficient_user_authentication", "Another login of the user is needed.",
      scheme: scheme)
    if !acrValues.isEmpty {
      refusal.parameters.append(("acr_values", acrValues.joined(separator: " ")))
    }
    if let maxAge { refusal.parameters.append(("max_age", String(maxAge.wholeSeconds))) }
    return refusal
  }

  /// The HTTP answer; the error is in its body as JSON, unless the options ask for no body.
  var answer: Answer {
    let headers = fields.map { (name: $0.name, value: $0.value) }
    if scheme.options?.challengesAreBare == true {
      return Answer(status: status, headers: headers, content: .text(""))
    }
    return Answer(status: status, headers: headers, json: error.map { .error($0, message) } ?? [:])
  }
}

extension SandboxDPoPOptions {
  /// Returns a challenge with these parameters and, unless the options forbid it, the algorithms.
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

import SQBasics

// Responses whose parameters are in a signed text.
extension AuthorizationResponse {
  /// Checks a redirect whose parameters must be in a signed text.
  ///
  /// The SDK verifies the text's signature later, because it may have to request the keys for that.
  /// Until then, the text's `state` only tells which sign-in the text answers. An unsigned response
  /// to this sign-in is refused: an attacker could have replaced the signed response.
  ///
  /// - SeeAlso: JARM, sections 2.3 and 2.4
  static func judge(
    signed outer: [FormCoding.Pair], _ redirect: String, _ expected: Expectation,
    _ reads: (String) -> Unverified
  ) -> Verdict {
    let texts = outer.filter { $0.name == "response" }
    guard let text = texts.first?.value else { return judge(unsigned: outer, expected) }
    guard texts.count == 1 else {
      return .unreadable(
        SQOAuthError(
          .invalidAuthorizationResponse,
          "the redirect has the parameter \"response\" more than once"))
    }
    let pairs: [FormCoding.Pair]
    switch reads(text) {
    case .parameters(let inside): pairs = inside
    case .unusable(let error, let inside):
      guard let state = state(in: inside), sameSecret(state, expected.state) else {
        return .unreadable(error)
      }
      return .answer(.failure(error))
    }
    guard let state = state(in: pairs), sameSecret(state, expected.state) else {
      return .wrongState(nil)
    }
    return .answer(
      Result { () throws(SQOAuthError) in
        let mixed = outer.first { known.contains($0.name) && $0.name != "iss" }
        if let mixed {
          throw SQOAuthError(
            .invalidAuthorizationResponse,
            "the redirect has the parameter \"\(mixed.name)\" besides the signed response")
        }
        return try response(signed: pairs, text, expected)
      })
  }

  /// Checks a redirect without a signed text, although the request asked for one.
  private static func judge(
    unsigned pairs: [FormCoding.Pair], _ expected: Expectation
  ) -> Verdict {
    guard let state = state(in: pairs), sameSecret(state, expected.state) else {
      return .wrongState(unboundError(in: pairs, expected))
    }
    let words = errorResponse(in: pairs, expected).map {
      "; it says \"\($0.error.rawValue.printable)\""
    }
    return .answer(
      .failure(
        SQOAuthError(
          .invalidAuthorizationResponse,
          "the redirect is not signed, although a signed response was asked for" + (words ?? ""))))
  }

  private static func response(
    signed pairs: [FormCoding.Pair], _ text: String, _ expected: Expectation
  ) throws(SQOAuthError) -> AuthorizationResponse {
    try checkUnasked(pairs)
    guard try !checkIssuer(pairs, expected) else {
      throw SQOAuthError(.issuerMismatch, "the signed response has no \"iss\"")
    }
    guard pairs.value("error") == nil else {
      return AuthorizationResponse(
        code: "", parameters: [:], signedText: text,
        refusal: try refusal(pairs, expected, lacksIssuer: false))
    }
    return AuthorizationResponse(
      code: try code(in: pairs), parameters: further(in: pairs), signedText: text)
  }
}

import Basics

/// The code that came back for one request; only a redirect that passed every check makes one.
///
/// - SeeAlso: RFC 6749, section 4.1.2; RFC 9207, section 2.4; RFC 9700, section 4
struct AuthorizationResponse: Sendable, Redacted {
  /// What the redirect is held against.
  struct Expectation: Sendable, Redacted {
    let redirectURI: String
    let state: String
    let issuer: String?
    /// Whether the server promised to send `iss`.
    let requiresIssuer: Bool
    /// Whether the server may show the user its pages before it answers.
    var allowsPages = true
  }

  /// What a redirect turned out to be.
  enum Verdict: Sendable {
    /// It is addressed to another redirect URI.
    case notAddressed
    /// It does not carry this request's `state`: not this sign-in's answer, which is still to come.
    case wrongState
    /// It is the answer.
    case answer(Result<AuthorizationResponse, SQOAuthError>)
  }

  /// `code`, opaque.
  let code: String

  /// Judges a redirect: the address, then `state`, then `iss`, then `error`, then `code`.
  static func judge(_ redirect: String, against expected: Expectation) -> Verdict {
    guard let query = RedirectMatch.query(of: redirect, for: expected.redirectURI) else {
      return .notAddressed
    }
    // Without a readable and single state nothing says that this is an answer to the request.
    guard let pairs = FormCoding.decode(Substring(query)),
      let state = single("state", in: pairs), sameSecret(state, expected.state)
    else { return .wrongState }
    return .answer(
      Result { () throws(SQOAuthError) in
        try checkForm(pairs, fragment: redirect)
        let lacksIssuer = try checkIssuer(pairs, expected)
        if let error = pairs.value("error") {
          throw try refusal(error, pairs, expected, lacksIssuer: lacksIssuer)
        }
        guard !lacksIssuer else {
          throw SQOAuthError(
            .issuerMismatch, "the redirect lacks \"iss\", which the server promises to send")
        }
        return AuthorizationResponse(code: try code(in: pairs))
      })
  }

  private static let known = [
    "state", "iss", "error", "error_description", "error_uri", "code",
  ]

  private static func checkForm(
    _ pairs: [FormCoding.Pair], fragment redirect: String
  ) throws(SQOAuthError) {
    // RFC 6749, section 3.1: no parameter more than once.
    for name in known where pairs.count(where: { $0.name == name }) > 1 {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect carries \"\(name)\" more than once")
    }
    // RFC 9700, section 2.1.2: a token in the redirect of a code flow was put there by someone.
    // Some servers add an empty fragment, or "#_=_"; one that cannot be read may hide anything.
    let fragment = redirect.utf8.drop { $0 != UInt8(ascii: "#") }.dropFirst()
    guard let fragment = FormCoding.decode(Substring(fragment)) else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect has a fragment that cannot be read")
    }
    let all = pairs + fragment
    for name in ["access_token", "token", "id_token", "refresh_token", "response"]
    where all.contains(where: { $0.name == name }) {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect carries \"\(name)\", which was not asked for")
    }
  }

  /// Refuses another issuer; returns whether the promised one is missing.
  private static func checkIssuer(
    _ pairs: [FormCoding.Pair], _ expected: Expectation
  ) throws(SQOAuthError) -> Bool {
    guard let issuer = pairs.value("iss") else { return expected.requiresIssuer }
    // Without a configured issuer there is nothing to compare it with (RFC 9207, section 2.4).
    guard let wanted = expected.issuer else { return false }
    // As bytes: Swift's own comparison takes some different characters for the same.
    guard issuer.utf8.elementsEqual(wanted.utf8) else {
      throw SQOAuthError(
        .issuerMismatch, "the redirect comes from another issuer than the one that was asked")
    }
    return false
  }

  /// The server's own error.
  ///
  /// Some servers send `iss` with a code only. An error without it ends the sign-in too (RFC 9207,
  /// section 2.4); nothing is sent to the server then, so its reason can be told safely.
  private static func refusal(
    _ error: String, _ pairs: [FormCoding.Pair], _ expected: Expectation, lacksIssuer: Bool
  ) throws(SQOAuthError) -> SQOAuthError {
    guard !error.printable.isEmpty else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect carries an error without a code")
    }
    let response = ErrorResponse(
      error: error, errorDescription: pairs.value("error_description"),
      errorURI: pairs.value("error_uri"))
    var refusal = SQOAuthError(
      response.error,
      response.errorDescription.map { "the authorization server says: \($0)" }
        ?? (response.error == .accessDenied
          ? "access was denied" : "the authorization server refused the request"),
      response: response)
    if expected.allowsPages { refusal.occasion = .pages }
    if lacksIssuer {
      refusal.message += " (the answer lacks \"iss\", which the server promises to send)"
    }
    return refusal
  }

  private static func code(in pairs: [FormCoding.Pair]) throws(SQOAuthError) -> String {
    guard let code = pairs.value("code"), !code.isEmpty else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect carries neither a code nor an error")
    }
    // RFC 6749, appendix A.11: visible characters and spaces.
    guard code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw SQOAuthError(
        .invalidAuthorizationResponse,
        "the redirect carries a malformed code: one with characters outside %x20-7E")
    }
    return code
  }

  private static func single(_ name: String, in pairs: [FormCoding.Pair]) -> String? {
    let values = pairs.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }

  /// Compares without stopping at the first difference.
  private static func sameSecret(_ first: String, _ second: String) -> Bool {
    guard first.utf8.count == second.utf8.count else { return false }
    return zip(first.utf8, second.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension [FormCoding.Pair] {
  /// The first value of a name.
  func value(_ name: String) -> String? {
    first { $0.name == name }?.value
  }
}

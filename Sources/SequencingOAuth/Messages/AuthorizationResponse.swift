import SQBasics
import SQCrypto
import SQFoundation

/// The authorization code in a redirect, or the error in a signed redirect; every check is done,
/// except the verification of a signature.
///
/// - SeeAlso: RFC 6749, section 4.1.2; RFC 9207, section 2.4; RFC 9700, section 4
package struct AuthorizationResponse: Sendable, Redacted {
  /// The values that the redirect for a request must have.
  package struct Expectation: Sendable, Redacted {
    let redirectURI: String
    let state: String
    let issuer: String?
    /// Whether the redirect must have `iss`, because the server's metadata says that the server
    /// sends it, or because the response must be signed.
    let requiresIssuer: Bool
    /// Whether the server may show its pages to the user before it responds.
    var allowsPages = true
    /// The other secrets of the request, which no error may show, even if the server repeats them.
    var secrets: [String] = []
    /// Reads a signed response, without verifying its signature; `nil` if the response must not be
    /// signed.
    var readsSigned: (@Sendable (String) -> Unverified)?
  }

  /// The content of a signed response whose signature was not verified yet.
  package enum Unverified: Sendable, Redacted {
    /// The parameters of the response.
    case parameters([FormCoding.Pair])
    /// The reason why the SDK cannot use the text, and the parameters that it could read.
    ///
    /// These parameters only tell which sign-in the text answers.
    case unusable(SQOAuthError, [FormCoding.Pair])
  }

  /// The meaning of a redirect for the sign-in.
  package enum Verdict: Sendable {
    /// The redirect is for a different redirect URI.
    case notAddressed
    /// The redirect lacks this request's `state`, so the sign-in still waits for its response.
    ///
    /// If the redirect has no `state` at all, the associated value is the redirect's error, as a
    /// hint for developers.
    case wrongState(ErrorResponse?)
    /// The redirect has a signed response that the SDK cannot use, and nothing proves that it
    /// belongs to this sign-in.
    ///
    /// The sign-in continues to wait, because anyone may have sent this redirect. If the sign-in
    /// then times out, its error gives the associated error as the reason.
    case unreadable(SQOAuthError)
    /// The redirect is the response to the request, with a code or with an error.
    case answer(Result<AuthorizationResponse, SQOAuthError>)
  }

  /// The content of a response; two redirects with equal content are the same response, sent twice.
  enum Content: Sendable, Equatable, Redacted {
    case code([UInt8])
    case error(SQOAuthError.Code, String)

    init(_ answer: Result<AuthorizationResponse, SQOAuthError>) {
      self =
        switch answer {
        case .success(let response):
          response.refusal.map { .error($0.code, $0.message) } ?? .code(Array(response.code.utf8))
        case .failure(let error): .error(error.code, error.message)
        }
    }
  }

  /// The parameter `code`; it has a meaning only to the server.
  let code: String
  /// The other parameters; the protocol neither defines nor protects them.
  let parameters: [String: String]
  /// The signed text that the response came in; its signature is not verified yet.
  var signedText: String?
  /// The error in a signed response; it counts only after the signature is verified.
  var refusal: SQOAuthError?

  /// The limits for parameters that the protocol does not define: their number, and their total
  /// size in bytes.
  private static let limits = (count: 32, bytes: 16 * 1024)

  /// Checks a redirect: first its address, then `state`, `iss`, `error` and `code`, in this order.
  package static func judge(_ redirect: String, against expected: Expectation) -> Verdict {
    guard let query = RedirectMatch.query(of: redirect, for: expected.redirectURI) else {
      return .notAddressed
    }
    // Unused parameters may be encoded in any way. Without a single, readable `state`, nothing
    // proves that the redirect belongs to the request.
    let pairs = FormCoding.mend(Substring(query))
    if let reads = expected.readsSigned { return judge(signed: pairs, redirect, expected, reads) }
    guard let state = state(in: pairs), sameSecret(state, expected.state) else {
      return rejected(pairs, expected)
    }
    return .answer(
      Result { () throws(SQOAuthError) in
        try checkForm(pairs, fragment: redirect)
        let lacksIssuer = try checkIssuer(pairs, expected)
        if pairs.value("error") != nil {
          throw try refusal(pairs, expected, lacksIssuer: lacksIssuer)
        }
        guard !lacksIssuer else {
          throw SQOAuthError(
            .issuerMismatch, "the redirect has no \"iss\", although the server promises to send it")
        }
        return AuthorizationResponse(code: try code(in: pairs), parameters: further(in: pairs))
      })
  }

  /// Returns the verdict for a redirect without the request's `state`.
  private static func rejected(
    _ pairs: [FormCoding.Pair], _ expected: Expectation
  ) -> Verdict {
    let names = pairs.map(\.name)
    guard names.contains("response"), !names.contains("state"), !names.contains("error") else {
      return .wrongState(unboundError(in: pairs, expected))
    }
    return .unreadable(
      SQOAuthError(
        .invalidAuthorizationResponse,
        "the redirect has a signed response, but the client did not ask for one; if the server "
          + "signs its responses to this client, set the configuration's "
          + "authorizationResponseAlgorithm"))
  }

  /// Returns the error of a redirect without a `state`; `nil` if it has a `state` or no error.
  static func unboundError(
    in pairs: [FormCoding.Pair], _ expected: Expectation
  ) -> ErrorResponse? {
    guard !pairs.contains(where: { $0.name == "state" }) else { return nil }
    return errorResponse(in: pairs, expected)
  }

  /// Returns the error in a redirect, without the secrets of the request and of the redirect.
  ///
  /// The ID token that named the user (`id_token_hint`) and a signed request are JWTs.
  static func errorResponse(
    in pairs: [FormCoding.Pair], _ expected: Expectation
  ) -> ErrorResponse? {
    guard let error = pairs.value("error"), !error.printable.isEmpty else { return nil }
    let secrets = SentSecrets(
      ["state", "code"].compactMap(pairs.value) + [expected.state] + expected.secrets,
      includesJWTs: true)
    return ErrorResponse(
      error: secrets.removed(from: error),
      errorDescription: pairs.value("error_description").map(secrets.removed),
      errorURI: pairs.value("error_uri").map(secrets.removed))
  }

  static let known = [
    "state", "iss", "error", "error_description", "error_uri", "code",
  ]

  /// The credentials that the server glewlwyd sends back if they were in a pushed request.
  private static let credentials: Set = [
    "client_assertion", "client_assertion_type", "client_secret",
  ]

  /// The codes by which Apple and LinkedIn say that the user has cancelled the sign-in.
  private static let cancellations: Set = [
    SQOAuthError.Code(rawValue: "user_cancelled_authorize"),
    SQOAuthError.Code(rawValue: "user_cancelled_login"),
  ]

  private static func checkForm(
    _ pairs: [FormCoding.Pair], fragment redirect: String
  ) throws(SQOAuthError) {
    // RFC 6749, section 3.1: no parameter may occur more than once.
    for name in known where pairs.count(where: { $0.name == name }) > 1 {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect has the parameter \"\(name)\" more than once")
    }
    // RFC 9700, section 2.1.2: a token in the redirect of a code flow comes from an attacker. Some
    // servers add an empty fragment, or "#_=_".
    let fragment = redirect.utf8.drop { $0 != UInt8(ascii: "#") }.dropFirst()
    let all = pairs + FormCoding.mend(Substring(fragment))
    try checkUnasked(all)
  }

  /// Throws if a response has a parameter that does not belong to the code flow.
  static func checkUnasked(_ pairs: [FormCoding.Pair]) throws(SQOAuthError) {
    for name in ["access_token", "token", "id_token", "refresh_token", "response"]
    where pairs.contains(where: { $0.name == name }) {
      throw SQOAuthError(
        .invalidAuthorizationResponse,
        "the redirect has the parameter \"\(name)\", but the SDK did not ask for it")
    }
  }

  /// Throws if `iss` is wrong; returns `true` if `iss` is missing although the server promised it.
  static func checkIssuer(
    _ pairs: [FormCoding.Pair], _ expected: Expectation
  ) throws(SQOAuthError) -> Bool {
    guard let issuer = pairs.value("iss") else { return expected.requiresIssuer }
    // Without a configured issuer, there is no value to compare with (RFC 9207, section 2.4).
    guard let wanted = expected.issuer else { return false }
    // This module's `==` compares bytes. Swift's own `==` treats some different texts as equal.
    guard issuer == wanted else {
      throw SQOAuthError(
        .issuerMismatch,
        "the \"iss\" in the redirect is not the issuer to which the user was sent to sign in")
    }
    return false
  }

  /// Creates the error of the sign-in for a redirect with `error`.
  ///
  /// Some servers send `iss` only with a code, so an error without `iss` ends the sign-in too (RFC
  /// 9207, section 2.4). Nothing is sent to the server after an error, so a forged error can only
  /// show a wrong reason.
  static func refusal(
    _ pairs: [FormCoding.Pair], _ expected: Expectation, lacksIssuer: Bool
  ) throws(SQOAuthError) -> SQOAuthError {
    guard let response = errorResponse(in: pairs, expected) else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect has an empty \"error\" parameter")
    }
    let isDenial = response.error == .accessDenied || cancellations.contains(response.error)
    var refusal = SQOAuthError(
      isDenial ? .accessDenied : SQOAuthError.Code(sentByServer: response.error),
      response.errorDescription.map { "the authorization server says: \($0)" }
        ?? (isDenial
          ? "the user or the authorization server denied access"
          : "the authorization server refused the request"),
      response: response)
    refusal.message += response.ownCodeNote
    if expected.allowsPages { refusal.occasion = .pages }
    if lacksIssuer {
      refusal.message += " (the redirect has no \"iss\", although the server promises to send it)"
    }
    return refusal
  }

  /// Returns the parameters that the protocol does not define, if they occur once and can be
  /// decoded.
  ///
  /// If there are too many of them, the result is empty, because the SDK cannot know which ones
  /// matter.
  static func further(in pairs: [FormCoding.Pair]) -> [String: String] {
    let further = pairs.filter { !known.contains($0.name) && !credentials.contains($0.name) }
    let names = Dictionary(grouping: further, by: \.name)
    let single = names.values.compactMap { $0.count == 1 && $0[0].isExact ? $0[0] : nil }
    let bytes = single.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard single.count <= limits.count, bytes <= limits.bytes else { return [:] }
    return Dictionary(uniqueKeysWithValues: single.map { ($0.name, $0.value) })
  }

  static func code(in pairs: [FormCoding.Pair]) throws(SQOAuthError) -> String {
    guard let pair = pairs.first(where: { $0.name == "code" }), !pair.value.isEmpty else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the redirect has neither a code nor an error")
    }
    guard pair.isExact else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the code in the redirect cannot be decoded")
    }
    let code = pair.value
    // RFC 6749, appendix A.11: printable ASCII characters and spaces.
    guard code.isPrintableASCII else {
      throw SQOAuthError(
        .invalidAuthorizationResponse,
        "the code in the redirect is malformed: it has a character that is not printable ASCII")
    }
    return code
  }

  /// Returns the value of `state`; `nil` if there is none or more than one.
  package static func state(in pairs: [FormCoding.Pair]) -> String? {
    let values = pairs.filter { $0.name == "state" }
    return values.count == 1 ? values[0].value : nil
  }

  /// Compares two texts in a time that does not depend on where they differ.
  static func sameSecret(_ first: String, _ second: String) -> Bool {
    OpenSSL.areEqual(Data(first.utf8), Data(second.utf8))
  }
}

extension [FormCoding.Pair] {
  /// Returns the value of the first parameter with this name.
  func value(_ name: String) -> String? {
    first { $0.name == name }?.value
  }
}

import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// What a sign-in expects of its redirect.
///
/// The methods `judge` compare a redirect with these values, and return a short result for tables.
struct Redirect {
  static let state = "Zm9vYmFyYmF6cXV1eHF1dXV4YmFyZm9vYmF6cXV4MDE"
  static let issuer = "https://honest.as.example"

  var redirectURI = "http://127.0.0.1:51004/cb"
  var issuer: String?
  var requiresIssuer = false
  var secrets: [String] = []

  /// The result of judging a redirect.
  enum Verdict: Equatable {
    case notAddressed
    case wrongState
    case unreadable
    case code(String)
    case refused(SQOAuthError.Code)
  }

  func judge(_ redirect: String) -> Verdict {
    switch response(redirect) {
    case .notAddressed: .notAddressed
    case .wrongState: .wrongState
    case .unreadable: .unreadable
    case .answer(.success(let response)): .code(response.code)
    case .answer(.failure(let error)): .refused(error.code)
    }
  }

  /// Judges the registered URI with a query.
  func judge(query: String) -> Verdict { judge("\(redirectURI)?\(query)") }

  func response(_ redirect: String) -> AuthorizationResponse.Verdict {
    AuthorizationResponse.judge(
      redirect,
      against: .init(
        redirectURI: redirectURI, state: Self.state, issuer: issuer,
        requiresIssuer: requiresIssuer, secrets: secrets))
  }
}

extension AuthorizationResponse.Verdict {
  /// The error of an answer that failed.
  var error: SQOAuthError? {
    if case .answer(.failure(let error)) = self { error } else { nil }
  }
}

import Basics

/// Parameters that an app or a provider adds to a request, such as `prompt` or `audience`.
///
/// The protocol's own cannot be set this way: each has its place in the configuration, or belongs
/// to one sign-in and must be fresh.
enum ExtraParameters {
  static let reservedForAuthorization: Set<String> = [
    "response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce",
    "code_challenge", "code_challenge_method", "response_mode", "request", "request_uri",
  ]

  static let reservedForToken: Set<String> = [
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier",
    "refresh_token", "scope", "username", "password", "client_assertion", "client_assertion_type",
  ]

  /// The parameters in the order of their names, so that a request is the same each time.
  static func check(
    _ parameters: [String: String], reserved: Set<String>, request: String
  ) throws(SQOAuthError) -> [FormCoding.Pair] {
    for name in parameters.keys.sorted() where reserved.contains(name) || name.isEmpty {
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(name.printable)\" cannot be set as an extra parameter of the \(request)")
    }
    return parameters.sorted { $0.key < $1.key }.map { FormCoding.Pair($0.key, $0.value) }
  }
}

import SQBasics

/// The checks of parameters that an app or a provider adds to a request, such as `prompt`.
///
/// An added parameter cannot replace a parameter of the protocol itself: the SDK takes that from
/// the configuration, or creates it for each request.
enum ExtraParameters {
  static let reservedForAuthorization: Set<String> = [
    "response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce",
    "code_challenge", "code_challenge_method", "response_mode", "request", "request_uri",
    "dpop_jkt",
  ]

  static let reservedForToken: Set<String> = [
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier",
    "refresh_token", "scope", "username", "password", "client_assertion", "client_assertion_type",
  ]

  /// Checks the parameters and sorts them by name, so that equal requests have equal bytes.
  static func check(
    _ parameters: [String: String], reserved: Set<String>, request: String
  ) throws(SQOAuthError) -> [FormCoding.Pair] {
    for name in parameters.keys.sorted() where reserved.contains(name) || name.isEmpty {
      throw SQOAuthError(
        .invalidConfiguration,
        "the parameter \"\(name.printable)\" cannot be added to the \(request), because the SDK "
          + "sets it, or because its name is empty")
    }
    return parameters.sorted { $0.key < $1.key }.map { FormCoding.Pair($0.key, $0.value) }
  }
}

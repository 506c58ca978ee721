public import SQBasics

/// A server's reason for refusing a request, with or without a token.
///
/// It comes from a `WWW-Authenticate` field, usually with status 401 or 403. The server chose all
/// of its content: you can show it and compare ``error``, but do not trust the rest.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9110, section 11.6.1
public struct TokenChallenge: Sendable, Hashable {
  /// The scheme as the server wrote it: `Bearer`, or `DPoP` for a token that is bound to a key, in
  /// any letter case.
  public let scheme: String
  /// All parameters as received, by name in lower case.
  ///
  /// A server may add other parameters, such as `resource_metadata`.
  public let parameters: [String: String]

  init(scheme: String = "Bearer", parameters: [String: String] = [:]) {
    self.scheme = scheme
    self.parameters = parameters
  }

  /// The parameter `realm`: the part of the server to which the challenge applies.
  public var realm: String? { text("realm") }

  /// The parameter `scope`: the scopes that the request needs, separated by spaces.
  ///
  /// It is `nil` if the parameter is missing, names no scope, or contains a character that no scope
  /// may have (RFC 6749, section 3.3).
  public var scope: String? {
    guard let scope = parameters["scope"], !scope.words.isEmpty,
      scope.words.allSatisfy(\.isScopeToken)
    else { return nil }
    return scope
  }

  /// The parameter `error`, the reason for the refusal; usually `nil` if the request had no token.
  ///
  /// RFC 6750 defines ``SQOAuthError/Code/invalidToken``, ``SQOAuthError/Code/insufficientScope``
  /// and ``SQOAuthError/Code/invalidRequest``.
  public var error: SQOAuthError.Code? {
    text("error").flatMap { $0.isEmpty ? nil : SQOAuthError.Code(rawValue: $0) }
  }

  /// The parameter `error_description`: a text for developers, not for users.
  public var errorDescription: String? { text("error_description") }

  /// The parameter `error_uri`: the address of a page about the error; the SDK never opens it.
  public var errorURI: String? { text("error_uri") }

  /// The parameter `resource_metadata`: the address of the document about the resource server.
  ///
  /// - SeeAlso: RFC 9728, section 5.1
  public var resourceMetadata: String? { text("resource_metadata") }

  /// The parameter `acr_values`: the authentication contexts that the request needs, best first.
  ///
  /// - SeeAlso: RFC 9470, section 3
  public var acrValues: [String] {
    (text("acr_values") ?? "").words
  }

  /// The parameter `max_age`: the longest allowed time since the user's login; `nil` if it is
  /// missing or no whole number of seconds.
  ///
  /// - SeeAlso: RFC 9470, section 3
  public var maxAge: Duration? {
    text("max_age").flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int64($0) : nil }
      .map { .seconds(min($0, 1 << 40)) }
  }

  /// The parameter `algs`: the signature algorithms of proofs that the server accepts.
  public var proofAlgorithms: [String] {
    (text("algs") ?? "").words
  }

  /// Whether the challenge asks for a token that is bound to a key.
  package var asksForProof: Bool { scheme.asciiLowercased() == "dpop" }

  /// Parses the challenges of all `WWW-Authenticate` fields of a response, in order.
  ///
  /// Challenges of schemes other than Bearer and DPoP are skipped. A malformed field contributes
  /// only the challenges before the error. A challenge with a repeated parameter is left out. At
  /// most 16 fields are read, and none larger than 8 KiB.
  public static func challenges(in fields: [String]) -> [TokenChallenge] {
    AuthenticationChallenge.challenges(in: fields)
      .filter { ["bearer", "dpop"].contains($0.scheme.asciiLowercased()) }
      .map { TokenChallenge(scheme: $0.scheme, parameters: $0.parameters) }
  }

  /// Returns this challenge with the request's secrets removed from its parameters.
  func removing(_ secrets: SentSecrets) -> TokenChallenge {
    TokenChallenge(scheme: scheme, parameters: parameters.mapValues(secrets.removed(from:)))
  }

  private func text(_ name: String) -> String? {
    parameters[name].map(\.printable)
  }
}

extension HeaderFields {
  /// The challenges of the schemes Bearer and DPoP in the `WWW-Authenticate` fields, in order.
  public var tokenChallenges: [TokenChallenge] {
    TokenChallenge.challenges(in: values(for: "WWW-Authenticate"))
  }
}

extension [TokenChallenge] {
  /// The first challenge that names an error, or else the first one.
  package var mostInformative: TokenChallenge? { first { $0.error != nil } ?? first }

  /// Returns the challenge for a request that had a token; prefers a challenge of the token's
  /// scheme.
  ///
  /// - SeeAlso: RFC 9449, section 7.2
  func answering(isBound: Bool) -> TokenChallenge? {
    filter { $0.asksForProof == isBound }.mostInformative ?? mostInformative
  }
}

extension WebResponse {
  /// The first challenge that names an error, or else the first one; `nil` if there is none.
  public var tokenChallenge: TokenChallenge? { headers.tokenChallenges.mostInformative }
}

extension TokenChallenge: Redacted {
  /// The realm, the error and the scope in one line, without texts that may repeat a token.
  public var description: String {
    let parts = [("realm", realm), ("error", error?.rawValue), ("scope", scope)]
    let words = parts.compactMap { name, value in value.map { "\(name) \"\($0.prefix(500))\"" } }
    return words.isEmpty
      ? "\(scheme.printable) challenge"
      : "\(scheme.printable) challenge (\(words.joined(separator: ", ")))"
  }
}

import SequencingOAuth

extension Failure {
  /// The message, followed by the hint if the hint names an option of this program, in one line.
  var advised: String {
    guard let hint, hint.hasPrefix(Self.adviceStart) else { return message }
    return "\(message). \(hint)"
  }

  private static let adviceStart = "In sq-demo, "

  /// Returns a hint with the option for the setting that an SDK error advises, or `nil`.
  static func option(for error: SQOAuthError) -> String? {
    (network + exceptions + protections + keys + app).first { error.message.contains($0.advice) }
      .map { "\(adviceStart)\($0.hint)." }
  }

  /// Phrases of errors about a server's exceptions from the standards, each with a hint.
  private static let exceptions: [(advice: String, hint: String)] =
    ServerExceptions.quirkNames.map {
      (".\($0.sdk) to the provider", "use \(Option.quirk.name) \($0.option)")
    } + [
      ("trustedAudiences", "use \(Option.trustAudience.name) ID"),
      ("idTokenAlgorithm", "use \(Option.idTokenAlgorithm.name) NAME"),
      ("acceptsServersWithoutPKCE", "use \(Option.withoutPKCE.name)"),
      (
        "set the provider's assertionAudience",
        "use \(Option.assertionAudience.name) endpoint, or another of its values, if the server has "
          + "the key of \(Option.key.name)"
      ),
      ("assertionAudience must be the issuer", "leave \(Option.assertionAudience.name) out"),
      ("clientAuthentication to .post", "use \(Option.auth.name) post"),
      ("clientAuthentication to client_secret_post", "use \(Option.auth.name) post"),
      ("clientAuthentication to client_secret_basic", "use \(Option.auth.name) basic"),
    ]

  /// Phrases of errors about protections that a server lacks or demands, each with a hint.
  private static let protections: [(advice: String, hint: String)] = [
    (
      "cannot follow the client's profile",
      "leave \(Option.profile.name) out if you can sign in without it"
    ),
    (
      "algorithms that the client's profile allows",
      "sign in without \(Option.profile.name), or ask the provider for ID tokens by one of these "
        + "algorithms"
    ),
    (
      "without the configuration's tokenBinding",
      "leave \(Option.dpop.name) or \(Option.profile.name) out if the token need not be bound"
    ),
    (
      "pushesAuthorizationRequests",
      "leave \(Option.par.name) out if the request need not be pushed"
    ),
    ("tokenBinding, and sign in again", "sign in again with \(Option.dpop.name)"),
    ("set the configuration's tokenBinding", "use \(Option.dpop.name)"),
    ("dpop_jkt is missing", "use \(Option.dpop.name)"),
  ]

  /// Phrases of errors about the client's key, each with a hint.
  private static let keys: [(advice: String, hint: String)] = [
    ("check that the server has the public half", "check the file that \(Option.key.name) names"),
    ("a provider with an issuer", "name the server with \(Option.issuer.name)"),
    ("the clientKey's algorithm", "use \(Option.key.name) with a key of another algorithm"),
    ("clientKey of the algorithm", "name a file with such a key: \(Option.key.name) FILE"),
    ("clientKey", "name the file with the client's key: \(Option.key.name) FILE"),
    ("needs a client key", "name the file with the client's key: \(Option.key.name) FILE"),
    (
      "does not list private_key_jwt",
      "use \(Option.auth.name) key if the client authenticates with its key nevertheless"
    ),
  ]
}

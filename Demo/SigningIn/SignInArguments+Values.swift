import SequencingOAuth

// Parsing of the options' values, and the errors for invalid values.
extension SignInArguments {
  static func redirectURI(_ text: String?) throws(Failure) -> RedirectURI {
    try Failure.refusing { () throws(SQOAuthError) in try RedirectURI(text ?? defaultRedirectURI) }
  }

  static func resources(_ texts: [String]) throws(Failure) -> Set<ResourceOrigin> {
    Set(
      try texts.map { text throws(Failure) in
        try Failure.refusing(of: .resource, address: text) { () throws(SQOAuthError) in
          try ResourceOrigin(text)
        }
      })
  }

  static func authentication(_ text: String?) throws(Failure) -> ClientAuthentication? {
    switch text {
    case nil: nil
    case "basic": .basic
    case "basic-unescaped": .basicUnescaped
    case "post": .post
    case "key": .privateKeyJWT
    case "none": .publicClient
    case let text?:
      throw .usage(
        "--auth takes basic, basic-unescaped, post, key or none, not \"\(text.onScreen)\""
          + Suggestion.question(text, among: Option.auth.choices))
    }
  }

  static func responseMode(_ text: String?) throws(Failure) -> SignInOptions.ResponseMode? {
    guard let text else { return nil }
    guard Option.responseMode.choices.contains(text) else {
      throw .usage(
        "\(Option.responseMode.name) takes \(Option.responseMode.choices.joined(separator: " or ")), "
          + "not \"\(text.onScreen)\""
          + Suggestion.question(text, among: Option.responseMode.choices))
    }
    return SignInOptions.ResponseMode(rawValue: text)
  }

  static func timeout(_ text: String?) throws(Failure) -> Duration? {
    guard let text else { return nil }
    guard let seconds = Int(text), (1...86_400).contains(seconds) else {
      throw .usage("--timeout takes whole seconds, from 1 to 86400")
    }
    return .seconds(seconds)
  }

  static func needsSecret(_ id: String) -> Failure {
    Failure(
      "secret_needed",
      "the client of the account \"\(id.onScreen)\" needs its secret, which was not stored",
      status: .notAuthorized
    ).withHint(placesOfSecret)
  }

  static let placesOfSecret =
    "Put it into \(Secret.Kind.clientSecret.variable), or into a file that --client-secret-file names."

  /// Fails if `--sandbox` is combined with options for another server or account.
  static func checkSandboxAlone(_ arguments: Arguments) throws(Failure) {
    let others = Server.options + [.account, .passphraseFile]
    guard let other = others.first(where: { arguments.contains($0) }) else { return }
    throw .usage("--sandbox is a server for this run only; leave \(other.name) out")
  }

  static func needsProvider(_ option: Option) -> Failure {
    .usage(
      "\(option.name) needs a provider: --provider, --issuer, or --authorize and --token")
  }
}

/// The text of `help options`, about the options that several commands share.
enum OptionsTopic: HelpTopic {
  static let name = "options"
  static let summary = "The options that many commands share."

  private static let groups: [(heading: String, options: [Option])] = [
    ("The account", [.account, .store, .passphraseFile]),
    ("The provider", Server.options),
    (
      "The client",
      [.clientID, .clientSecretFile, .key, .redirectURI, .scope, .auth, .resource]
    ),
    ("Protections beyond plain OAuth 2", SignInProtections.options),
    ("A server with exceptions from the standards", ServerExceptions.options),
    ("The sign-in", [.browser, .timeout]),
    ("The network", NetworkOptions.options), ("Without an account", [.sandbox]),
    ("What happens", [.verbose]),
  ]

  /// All shared options, in the order of the page.
  static let shared = groups.flatMap(\.options)

  static let sections = groups.map { group in
    HelpSection(heading: group.heading, rows: group.options.map { ($0.term, $0.help) })
  }
  static let details = """
    Only the first sign-in needs the provider and the client: they are kept with the
    account. If a command names them and the account does not exist yet, the command signs
    in first. If the account exists, the options of the command count for that run. But only
    a login binds tokens: --dpop and --profile refuse an account whose tokens are not bound.

    The options of the network count for one run, and no account keeps them: they belong to
    the place where you are, and an account may be used at home and at work. To set them for
    good, use environment variables: https_proxy names the proxy, no_proxy the servers to
    reach without it, and SSL_CERT_FILE a file of authorities, which replaces the system's.

    A secret is never an argument, because every user of the machine can see arguments.
    """
}

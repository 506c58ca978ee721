import SequencingOAuth

// Checks of the options before a sign-in or the use of an account.
extension SignInArguments {
  /// Returns whether an account was signed in at the server and by the client that the options
  /// name; `true` if the options name no server.
  func fit(_ record: AccountRecord) -> Bool {
    guard let server else { return true }
    return server.has(record) && (clientID == nil || record.clientID == clientID)
  }

  /// Returns whether a command with these options may use the tokens of an account.
  ///
  /// The record of another program may name less of the server than the options do. If the options
  /// name a client, the SDK compares it with such an account, as far as the account says.
  func mayUse(_ record: AccountRecord) -> Bool {
    if fit(record) { return true }
    guard let configuration else { return false }
    if record.tokenEndpoint == nil, KeptClient(record).server == nil { return true }
    // The SDK compares the issuers if both are known. The token endpoint of a client with an issuer
    // may be known only later, after a command has printed the token.
    return (configuration.provider.issuer == nil ? record.tokenEndpoint : record.issuer) != nil
  }

  /// The address of the document about the client; `nil` if the client has another identifier.
  var documentAddress: String? {
    Self.isAddress(clientID) ? clientID : nil
  }

  static func isAddress(_ clientID: String?) -> Bool {
    clientID?.lowercased().hasPrefix("https://") == true
  }

  /// Fails if there are options that the built-in sandbox cannot use, because the user meant
  /// another provider.
  func checkForSandbox() throws(Failure) {
    if let strayOption { throw Self.needsProvider(strayOption) }
  }

  /// Whether the program gets the redirect without a user who pastes it.
  var readsNoInput: Bool { redirectURI.isLoopback || browser.playedUser != nil }

  /// Fails if the sandbox's password would be sent to another machine.
  func checkVisitor() throws(Failure) {
    guard browser.playedUser != nil, let server, !EmbeddedSandbox.canBeVisited(server.address)
    else {
      return
    }
    throw .usage("--browser sandbox plays the user of a sandbox on this machine only")
  }

  /// Fails if the account would keep the path of a key file that disappears after this run.
  func checkKeyLasts(in store: OpenStore) async throws(Failure) {
    guard let key, !key.lasts, await store.place != nil else { return }
    throw .usage(
      "the account keeps only the path of the key, and \(key.path.onScreen) is not a lasting file; put "
        + "the key into a file, or use --store memory for this run only")
  }

  /// The scopes that request the user's identity from the server that the options name.
  var identityScopes: [String] {
    guard case .known(let known)? = server else { return ["openid", "profile", "email"] }
    return known.identityScopes
  }

  /// Fails if Apple would refuse the sign-in, before or after the user has logged in.
  private func checkForApple() throws(Failure) {
    guard key != nil || secret != nil else {
      throw Failure(
        "secret_needed", "Apple requires a key with which the client signs its secret",
        status: .wrongUsage
      ).withHint("Name the file that Apple gave you: \(Option.key.name) AuthKey_ID.p8.")
    }
    guard redirectURI.string.hasPrefix("https:") else {
      throw .usage(
        "Apple redirects only to https: give the client's return URL with \(Option.redirectURI.name), "
          + "and paste the address of the page at which your browser stops")
    }
  }

  /// Fails if a sign-in would fail at its end because the client's secret is missing.
  func checkSecret() throws(Failure) {
    if case .known(.apple)? = server { return try checkForApple() }
    guard server == .known(.sequencing), secret == nil, authentication == nil else { return }
    throw Failure(
      "secret_needed", "Sequencing.com requires the secret of every client", status: .wrongUsage
    ).withHint(Self.placesOfSecret)
  }
}

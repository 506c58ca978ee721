import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery

// Checks of the account and the options before a request goes to a resource.
extension ResourceAccess {
  /// Throws if another account has the name of the resource's account.
  ///
  /// The library keeps an account under the name of its resource. If another account has this name,
  /// its token must not go to the resource, and no sign-in at the resource may replace it.
  func checkName() throws(Failure) {
    guard let target = try? CallTarget(address),
      let record = target.namesake(of: accountID, among: records)
    else { return }
    let kept = KeptClient(record)
    let owner =
      kept.identifiers.first.map { "belongs to the resource \($0.onScreen)" }
      ?? "was signed in with 'sq-demo login' at "
      + (kept.server?.address ?? record.issuer ?? "a server").onScreen
    let resource = String(address.prefix { $0 != "?" }).onScreen
    throw Failure(
      SQOAuthError.Code.duplicateName.rawValue,
      "the account \"\(record.id.onScreen)\" \(owner); its token may not go to \(resource), and no "
        + "sign-in at \(resource) may replace it", status: .wrongUsage
    ).withHint("Choose another \(Option.account.name) for \(resource).")
  }

  /// Throws if the account that is kept for the resource is not what the options demand.
  func checkKept() throws(Failure) {
    guard let record = records.first(where: { $0.id == accountID }) else { return }
    try KeptClient(record).checkLimits()
    // If the session has ended, the account has no tokens to check, and a sign-in gets new tokens.
    if !record.token.accessToken.isEmpty { try options.checkBinds(record) }
    guard let option = signIn.providerOption else { return }
    guard let client = try record.issuer.flatMap(clientByHand), client.clientID == record.clientID
    else { throw SignInArguments.needsProvider(option) }
  }

  /// Throws if a sign-in at an authorization server would not do what the options demand.
  func checkOptions(at issuer: String) throws(SQOAuthError) {
    try checkListed()
    guard let option = signIn.providerOption else { return }
    let failure: Failure
    do throws(Failure) {
      guard try clientByHand(at: issuer) == nil else { return }
      failure = SignInArguments.needsProvider(option)
    } catch {
      failure = error
    }
    throw SQOAuthError(
      .invalidConfiguration, "the client of this program cannot be used with the options",
      cause: failure)
  }

  /// Throws if the user lists servers for the token, and the resource's server is not among them.
  func checkListed() throws(SQOAuthError) {
    let origin = try ResourceOrigin(address)
    guard !signIn.resources.isEmpty, !signIn.resources.contains(origin) else { return }
    throw SQOAuthError(
      .originNotAllowed,
      "\(Option.resource.name) does not list \(origin), so no token may go there")
  }

  /// Returns the client of an account from `sq-demo login` at an issuer, changed by the options.
  ///
  /// Returns `nil` if there is no such account.
  ///
  /// - Throws: A failure if the client cannot use one of the options, or if they contain
  ///   `--profile` or `--client-secret-file`. A profile also has rules for the search for the
  ///   server, and a call does not obey these rules. A secret would go to a server that the
  ///   resource chooses.
  private func clientByHand(at issuer: String) throws(Failure) -> ClientConfiguration? {
    guard signIn.protections.profile == .standard else {
      throw SignInArguments.needsProvider(.profile)
    }
    guard signIn.strayOption != .clientSecretFile else {
      throw SignInArguments.needsProvider(.clientSecretFile)
    }
    let record = records.first {
      let client = KeptClient($0)
      return client.identifiers.isEmpty && client.server == .issuer(issuer) && !client.needsSecret
    }
    guard let record else { return nil }
    return try signIn.with(secret: nil).completed(by: record).configuration
  }
}

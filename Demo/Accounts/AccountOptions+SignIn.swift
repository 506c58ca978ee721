import SQBasics
import SequencingOAuth

// Sign-ins at the provider of the options or of an account, or at the built-in sandbox.
extension AccountOptions {
  /// Signs the user in again after the session has ended, then runs `work` with the account.
  func resume(
    _ record: AccountRecord, _ opened: OpenStore?, _ console: Console, _ work: Work
  ) async throws(Failure) {
    let options = try completed(by: record)
    guard options.server != nil else { throw signedOut(record) }
    var resuming = self
    resuming.choice = AccountChoice(id: record.id)
    try await resuming.signIn(options, opened, console, work)
  }

  /// Signs in and runs `work` with the new account.
  ///
  /// If the options name no provider, the user signs in at the built-in sandbox. The sandbox stops
  /// after `work`.
  func signIn(
    _ options: SignInArguments, _ opened: OpenStore?, _ console: Console, _ work: Work
  ) async throws(Failure) {
    let options = try await options.unlocked(console)
    if options.server != nil, options.configuration == nil {
      let opened = try await orOpen(opened, console)
      try await options.checkKeyLasts(in: opened)
      let options =
        if let handle = options.wantedHandle {
          try await options.findingServer(of: handle, console)
        } else {
          try await options.registering(in: opened.registrations, console)
        }
      return try await signIn(options, opened, console, work)
    }
    // Find the server again, because the user may have moved to another server since the last
    // sign-in.
    if let user = options.subject, !options.hasFoundServer {
      let options = try await options.findingServer(of: user, console)
      return try await signIn(options, opened, console, work)
    }
    if let configuration = options.configuration, let server = options.server {
      try options.checkVisitor()
      try options.checkSecret()
      let opened = try await orOpen(opened, console)
      try await options.checkKeyLasts(in: opened)
      return try await self.work(options, configuration, server, opened, console, work)
    }
    try options.checkForSandbox()
    // An account of the built-in sandbox does not last, so it is not put into the default store.
    let opened =
      store.areGiven && !options.usesSandbox ? try await orOpen(opened, console) : .memory()
    try await EmbeddedSandbox.running(
      for: options, tokenLifetime: tokenLifetime
    ) { sandbox throws(Failure) in
      let configuration = try sandbox.configuration(for: options)
      try await self.work(
        options, configuration, .issuer(sandbox.issuer), opened, console, work, at: sandbox)
    }
  }

  private func orOpen(_ opened: OpenStore?, _ console: Console) async throws(Failure) -> OpenStore {
    if let opened { return opened }
    return try await store.open(console)
  }

  private func work(
    _ options: SignInArguments, _ configuration: ClientConfiguration, _ server: Server,
    _ store: OpenStore, _ console: Console, _ work: Work, at sandbox: EmbeddedSandbox? = nil
  ) async throws(Failure) {
    let place = sandbox.map { "the built-in sandbox, \($0.issuer)" } ?? configuration.provider.name
    let oauth = Account.oauth(choice.newID, keptIn: store, console)
    let events = oauth.events()
    oauth.register(configuration)
    let configuration = try await askingWho(oauth, in: store, options, configuration)
    oauth.register(configuration)
    let lasting = KeptClient(
      configuration, at: server, keyFile: options.key?.path, handle: options.handle)
    let client = sandbox == nil ? lasting : lasting.ofBuiltInSandbox
    oauth.module.attributes = client.attributes
    var signIn = CommandLineSignIn(oauth, options, at: place, console)
    signIn.registeredURIs = await store.registeredURIs(of: configuration)
    // The built-in sandbox ends with the program, so its client is of no use later.
    let remember: () async -> Void = { [self] in
      guard sandbox == nil, oauth.module.hasAccessToken else { return }
      await self.remember(choice.newID, configuration.clientID, client, in: store, console)
    }
    try await oauth.flushing(console) { () throws(Failure) in
      if signsInWhenNeeded { signIn.whenNeeded() } else { try await signIn.run() }
      await remember()
      let outcome = await Result.of { () throws(Failure) in
        try await work(
          Account(
            oauth: oauth, events: events, server: server.address, place: place,
            signInCommand: self.store.signInCommand(choice.newID),
            widerSignInCommand: await widerSignInCommand(
              choice.newID, configuration.clientID, at: configuration.provider.issuer, in: store),
            sandbox: sandbox,
            hasListedResources: !options.resources.isEmpty, store: store, signIn: signIn))
      }
      if signsInWhenNeeded { await remember() }
      try outcome.get()
    }
  }

  /// Returns the client with scopes for the user's identity.
  ///
  /// Returns the client unchanged if the provider does not support these scopes or the user names a
  /// scope.
  private func askingWho(
    _ oauth: SQOAuth, in store: OpenStore, _ options: SignInArguments,
    _ configuration: ClientConfiguration
  ) async throws(Failure) -> ClientConfiguration {
    // Ignore most errors of the store and the provider here: the sign-in fails with a better
    // message.
    guard asksWho, configuration.scope == nil, await canRead(store) else {
      return configuration
    }
    let metadata: ProviderMetadata
    do throws(SQOAuthError) {
      metadata = try await oauth.providerMetadata()
    } catch {
      // Fail after a timeout, because the sign-in would wait just as long again.
      if error.code == .requestTimedOut { throw Failure(error) }
      return configuration
    }
    guard metadata.issuer != nil, metadata.jwksURI != nil else { return configuration }
    let offered = metadata.scopes ?? options.identityScopes
    let scope = ["openid", "profile", "email"].filter { offered.contains($0) }
    guard scope.contains("openid") else { return configuration }
    let asking = try? options.requesting(scope: scope.joined(separator: " "))
    return asking?.configuration ?? configuration
  }

  /// Returns whether the account that the sign-in will replace can be read.
  ///
  /// The account does not come into the memory of the SDK: after a sign-in that fails, the SDK
  /// would store it with the attributes of the new sign-in, so without its client's secret.
  private func canRead(_ store: OpenStore) async -> Bool {
    do throws(Failure) {
      _ = try await store.attempt { [choice] in try await $0.load(choice.newID) }
      return true
    } catch {
      return false
    }
  }
}

import SQBasics

/// The client of one account: its configuration, its environment, the servers that may get its
/// tokens, and the app's attributes.
package final class ClientContext: Sendable {
  private struct State {
    var configuration: Result<ClientConfiguration, SQOAuthError>
    var environment: ClientEnvironment
    var attributes = AccountAttributes()
    var servers = ResourceServers()
    var managersTokenRequests: TokenRequests?
  }

  /// The configuration and the environment at one moment.
  ///
  /// The app may register another client at any time. So an operation reads both only once: the
  /// client that gets a token must be the client that was compared with the token's record.
  package struct Settings: Sendable {
    let configuration: Result<ClientConfiguration, SQOAuthError>
    let environment: ClientEnvironment
  }

  private let state: Locked<State>
  // This object is made at its first use, because a web application holds many accounts, and most
  // never need it.
  private let lazyTokenRequests = LazyObject<TokenRequests>()
  /// A lock for changes that the app makes in place to the environment or the attributes.
  ///
  /// Each such change reads the value and writes it back.
  let changes = RecursiveLock()

  package init(
    _ configuration: Result<ClientConfiguration, SQOAuthError>, _ environment: ClientEnvironment
  ) {
    state = Locked(State(configuration: configuration, environment: environment))
  }

  /// The account's token requests that are under way, also those whose callers do not wait any
  /// longer.
  var tokenRequests: TokenRequests {
    lazyTokenRequests.get(orMake: TokenRequests(among: state.withLock(\.managersTokenRequests)))
  }

  /// Applies the rules for a module that a manager creates; call it before the first request.
  ///
  /// The account's token requests count among the manager's too, because the account may be released
  /// while its request, or the revocation of its token, continues. No server gets the tokens because
  /// its request was the first.
  func join(managers requests: TokenRequests) {
    state.withLock { state in
      state.managersTokenRequests = requests
      state.servers.isManaged = true
    }
  }

  package var environment: ClientEnvironment { state.withLock(\.environment) }

  /// Sets the environment, and returns the previous one, which must be released outside all locks.
  func replaceEnvironment(by new: ClientEnvironment) -> ClientEnvironment {
    state.withLock { state in
      defer { state.environment = new }
      return state.environment
    }
  }

  /// Reads a part of the environment under the lock, without copying the rest.
  package func withEnvironment<Value: Sendable>(_ body: (ClientEnvironment) -> Value) -> Value {
    state.withLock { body($0.environment) }
  }

  package var configuration: Result<ClientConfiguration, SQOAuthError> {
    get { state.withLock(\.configuration) }
    set {
      state.change { state in
        if (try? state.configuration.get().provider) != (try? newValue.get().provider) {
          state.servers.providerDidChange()
        }
        state.configuration = newValue
      }
    }
  }

  /// The current configuration and environment, read together.
  var settings: Settings {
    state.withLock { Settings(configuration: $0.configuration, environment: $0.environment) }
  }

  /// Reads or changes the servers that may get the tokens, under the lock.
  func withServers<Value: Sendable>(
    _ body: (inout ResourceServers, Result<ClientConfiguration, SQOAuthError>) -> Value
  ) -> Value {
    state.withLock { body(&$0.servers, $0.configuration) }
  }

  /// Whether the provider is known to accept a refresh token several times.
  var reusesRefreshTokens: Bool {
    (try? configuration.get().provider.reusesRefreshTokens) ?? false
  }

  /// Whether the client gets tokens in its own name.
  var usesClientCredentials: Bool {
    (try? configuration.get().usesClientCredentials) ?? false
  }

  /// The app's values that are stored with the account.
  var attributes: [String: String] {
    get { state.withLock(\.attributes.values) }
    set { state.withLock { $0.attributes.set(newValue) } }
  }

  /// The app's values, for ``restoreAttributes(_:of:)``.
  package var savedAttributes: AccountAttributes { state.withLock(\.attributes) }

  /// Undoes the changes of the app's values since `earlier`.
  ///
  /// `record` is the account's record in memory; if the app had set no values, they are the
  /// record's.
  package func restoreAttributes(_ earlier: AccountAttributes, of record: AccountRecord?) {
    changes.lock()
    defer { changes.unlock() }
    state.withLock { state in
      state.attributes.restore(earlier)
      if let record { state.attributes.resume(of: record) }
    }
  }

  /// Returns the app's values for the record that replaces `old`.
  ///
  /// They are the values of `old`, unless the app has set values that no record has yet.
  func attributes(after old: AccountRecord) -> [String: String] {
    newAttributes ?? old.attributes
  }

  /// The values that the app has set since the last record was sent to the store; `nil` if it has
  /// set none.
  var newAttributes: [String: String]? { state.withLock(\.attributes.new) }

  /// Stops treating the app's values as new if the record has them; call this before each save.
  func willSave(_ record: AccountRecord) { state.withLock { $0.attributes.willSave(record) } }

  /// Copies the app's values from a stored record, unless the app has already set values.
  func resumeAttributes(of record: AccountRecord) {
    state.withLock { $0.attributes.resume(of: record) }
  }

  /// Returns the client with its server's metadata, fetched if it is not in memory or is outdated.
  ///
  /// With `isFresh`, the metadata is fetched even if it is in memory. Metadata that the app gave is
  /// never fetched. The metadata has what the call `needs`, and what each sign-in of the
  /// configuration needs, if one of the issuer's documents has it.
  package func client(
    isFresh: Bool = false, for askers: MetadataCache.Askers = .app,
    needs: MetadataNeeds = .endpoints
  ) async throws(SQOAuthError) -> RegisteredClient {
    try await client(by: settings, isFresh: isFresh, for: askers, needs: needs)
  }

  /// Returns the client with the given settings, as ``client(isFresh:for:needs:)`` does.
  func client(
    by settings: Settings, isFresh: Bool = false, for askers: MetadataCache.Askers = .app,
    needs: MetadataNeeds = .endpoints
  ) async throws(SQOAuthError) -> RegisteredClient {
    let (configuration, environment) = (try settings.configuration.get(), settings.environment)
    try configuration.checkResources()
    let metadata = try await metadata(
      configuration, environment, isFresh: isFresh, for: askers, needs: needs)
    guard configuration.usesCertificate else {
      return RegisteredClient(
        configuration: configuration, environment: environment, metadata: metadata)
    }
    try Self.checkCertificate(of: environment.transport)
    return RegisteredClient(
      configuration: configuration, environment: environment,
      metadata: try metadata.forCertificates())
  }

  /// Throws if the SDK's own transport has no certificate for the client.
  private static func checkCertificate(of transport: any HTTPTransport) throws(SQOAuthError) {
    guard let transport = transport as? CurlTransport,
      transport.configuration.clientCertificate == nil
    else { return }
    throw SQOAuthError(
      .invalidConfiguration,
      "the client needs a certificate for its TLS connections: set the clientCertificate of the "
        + "HTTPTransportConfiguration of the environment's transport")
  }

  private func metadata(
    _ configuration: ClientConfiguration, _ environment: ClientEnvironment, isFresh: Bool,
    for askers: MetadataCache.Askers, needs: MetadataNeeds
  ) async throws(SQOAuthError) -> ProviderMetadata {
    if let known = configuration.metadata { return known }
    // If the app gave the provider no endpoints, `identifier` is the issuer.
    let discovery = Discovery(
      issuer: configuration.provider.identifier, timeout: configuration.timeout,
      needs: max(needs, configuration.metadataNeeds),
      insertsWellKnownFirst: configuration.profile.insertsWellKnownFirst,
      acceptsServersOnThisComputer: configuration.acceptsServersOnThisComputer,
      clock: environment.clock, observer: environment.observer)
    return try await environment.metadata.metadata(
      by: discovery, environment.transport, isFresh: isFresh, for: askers)
  }
}

extension ClientConfiguration {
  /// What each sign-in needs, because the issuer signs an ID token or a response for it.
  fileprivate var metadataNeeds: MetadataNeeds {
    let signsResponses = authorizationResponseAlgorithm != nil || profile.signsMessages
    return max(RegisteredClient.metadataNeeds(ofScope: scope), signsResponses ? .keys : .endpoints)
  }
}

public import SQBasics
public import SequencingOAuth

/// A client of one resource; it finds the authorization server by the resource's address alone.
///
/// It finds the authorization server that the resource trusts (RFC 9728), reads that server's
/// metadata (RFC 8414), chooses the program's client at that server (``ClientIdentity``), signs the
/// user in for this resource (RFC 8707), and keeps the account in the store under the resource's
/// identifier. Processes that share the store share the account. After a restart, the client uses
/// the stored account without a new search.
///
/// Tokens go to the resource's own server only. Any thread may call any method.
public final class ResourceClient: Sendable {
  /// Whether a request may make the user sign in.
  public enum Interaction: Sendable, Hashable {
    /// Never: a request that needs a sign-in fails.
    ///
    /// Without an account, the error is `SQOAuthError.Code.notAuthorized`. With an account, it is
    /// the error of the request with the account's token.
    case none
    /// The user signs in when the resource demands a token and the client has no valid one.
    case signIn
    /// The user signs in, and again when the resource demands more scopes or a stronger login.
    case signInAndStepUp
  }

  /// How a client signs users in and sends its requests.
  public struct Options: Sendable {
    /// Whether ``ResourceClient/send(_:)`` may make the user sign in: by default, if there is no
    /// valid token.
    public var interaction = Interaction.signIn
    /// The closure that shows a code for another device; `nil` for a sign-in with a browser.
    ///
    /// It may return at once, or show the code until its task is cancelled, which happens when the
    /// sign-in ends. The next sign-in begins only after it has returned. If it throws before its
    /// task is cancelled, the sign-in ends with `SQOAuthError.Code.cancelled`, whose cause is the
    /// closure's error. It must not wait for a request or a sign-in of this client, because these
    /// wait for the running sign-in.
    public var showsCode: (@Sendable (DeviceAuthorization) async throws -> Void)?
    /// The closure that chooses one of several authorization servers.
    ///
    /// It gets their issuers in the resource's order and returns one of them, or `nil` to refuse.
    /// By default the client uses the server at which the program is registered by hand, or else
    /// the first usable server. The closure's task is cancelled when no caller waits any longer. The
    /// closure must not wait for a request or a sign-in of this client, because these wait for the
    /// closure.
    public var choosesServer: (@Sendable ([String]) async -> String?)?
    /// The scopes of the first sign-in; `nil` for those that the resource asks for.
    public var scope: String?
    /// The rules that the client follows; `SecurityProfile.mcp` for the Model Context Protocol.
    ///
    /// A client that was registered by hand keeps its own profile if that is stricter, and any other
    /// client that of ``ClientIdentity/metadata``.
    public var profile = SecurityProfile.standard
    /// How to bind the tokens; by default as the client that was registered by hand says, or else to
    /// a key if the resource demands it.
    public var tokenBinding: TokenBinding?
    /// The time limit of each request for the resource's metadata, and of each request to an
    /// authorization server.
    ///
    /// All authorization servers that the resource lists share this time for their metadata. A
    /// request with the account's token has this limit too, unless the request sets its own.
    public var timeout = Duration.seconds(60)
    /// The id of the account; `nil` for the resource's identifier.
    ///
    /// Choose a different id for each resource. The client keeps the resource's identifier in the
    /// account's attribute `resource`. It refuses an account with a different identifier, because
    /// that account's token must not be sent to this resource.
    public var accountID: String?
    /// How long the user may take to sign in with a browser; `nil` for the client's own limit.
    package var signInTimeout: Duration?
    /// How long a sign-in waits for a free port, if all registered ports are in use.
    package var portTimeout = Duration.seconds(30)
    /// The closure that decides, for a given authorization server, whether ``showsCode`` is used.
    ///
    /// It throws if no sign-in can take place. Without this closure, ``showsCode`` is always used.
    package var usesCode:
      (@Sendable (_ issuer: String, ProviderMetadata) async throws(SQOAuthError) -> Bool)?
    /// The closure that decides whether to open the sign-in page if the server refuses the client a
    /// code for another device; without this closure, no page is opened.
    package var showsPage: (@Sendable (_ instead: SQOAuthError) -> Bool)?
    /// The closure that makes the account's attributes before a sign-in, from the client and the
    /// scope.
    package var attributes: (@Sendable (ClientConfiguration, String?) -> [String: String])?

    /// Creates the default options.
    public init() {}
  }

  /// The resource's address.
  public var address: String { resource.text }
  let resource: ResourceAddress
  let identity: ClientIdentity
  let accounts: AccountManager
  let options: Options
  /// The running search or sign-in, for which all callers wait.
  ///
  /// It may wait for the user, so it ends when no caller waits any longer.
  let gaining = SharedFetches<Bool, Gained, Never>(keepsValues: false, abandonedLimit: 0)
  /// The end of the latest search or sign-in, which the next one waits for.
  let latestEnd = Locked<OneShot<Void>?>(nil)
  /// The configuration that the latest sign-in registered in the account's module.
  let registered = Locked<ClientConfiguration?>(nil)
  /// The account that the client uses, once it has been found.
  let knownAccess = Locked<Access?>(nil)

  /// Creates the client of a resource, without sending a request.
  ///
  /// - Throws: `SQOAuthError.Code.insecureEndpoint` for an http URL, unless its host is a loopback
  ///   address; `SQOAuthError.Code.invalidConfiguration` for an address that is not a URL of https
  ///   or http.
  public init(
    _ address: String, as identity: ClientIdentity, accounts: AccountManager,
    options: Options = Options()
  ) throws(SQOAuthError) {
    resource = try ResourceAddress(address)
    self.identity = identity
    self.accounts = accounts
    self.options = options
  }

  var environment: ClientEnvironment { accounts.environment }

  /// Returns the identifiers under which a resource may describe itself, the most specific first.
  package static func identifiers(of address: String) throws(SQOAuthError) -> [String] {
    try ResourceAddress(address).identifiers
  }

  // MARK: Finding

  /// Asks the resource which authorization servers it trusts.
  ///
  /// The challenge in a `response` of the resource may name the address of the metadata.
  ///
  /// - Throws: `SQOAuthError.Code.resourceMetadataInvalid`, with the address and the rule;
  ///   `SQOAuthError.Code.serverError` if the resource's server is in trouble; the errors of the
  ///   transport.
  public func discover(
    after response: WebResponse? = nil
  ) async throws(SQOAuthError) -> DiscoveredResource {
    try await discovery.find(named: response?.headers.tokenChallenges.resourceMetadata)
  }

  var discovery: ResourceDiscovery {
    ResourceDiscovery(
      resource: resource, environment: environment, timeout: options.timeout)
  }

  /// Returns the account of the resource, from the store or from memory; `nil` if there is none.
  ///
  /// It is also `nil` if the client of the stored account is no longer part of the program's
  /// ``ClientIdentity``. The method sends no request.
  public func account() async throws(SQOAuthError) -> AuthorizationModule? {
    try await access()?.module
  }

  var identification: ClientIdentification {
    ClientIdentification(
      identity: identity, environment: environment, timeout: options.timeout,
      acceptsServersOnThisComputer: resource.isLocal, profile: options.profile)
  }

  /// Returns the configuration of the program's client for the resource.
  func configuration(
    of client: IdentifiedClient, binding: TokenBinding?, for identifier: String
  ) -> ClientConfiguration {
    // The audience of a client that was registered by hand may be meant for a different account.
    var configuration = client.configuration.limited(to: [identifier])
    // Each sign-in names its scopes.
    configuration.scope = nil
    configuration.resourceOrigins = [resource.origin]
    configuration.acceptsServersOnThisComputer = resource.isLocal
    configuration.profile = configuration.profile.orStricter(options.profile)
    configuration.timeout = options.timeout
    if let limit = options.signInTimeout { configuration.signInTimeout = limit }
    if let binding { configuration.tokenBinding = binding }
    return configuration
  }
}

extension [TokenChallenge] {
  /// The address of the resource's metadata in the first challenge that names one.
  package var resourceMetadata: String? { lazy.compactMap(\.resourceMetadata).first }
}

extension ResourceClient: Redacted {
  /// The resource's address, without its query.
  public var description: String {
    "client of \(resource)"
  }
}

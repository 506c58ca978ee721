import SQBasics
public import SequencingOAuth

/// A user of AT Protocol, for example of Bluesky, with the servers of the user's account.
///
/// Anyone may run such servers, so a client begins with the user's name and finds that user's
/// authorization server. ``configuration(clientID:clientKey:redirectURI:scope:)`` then follows the
/// protocol's rules: a pushed request, tokens bound to a key, and a token for this user alone.
///
/// - SeeAlso: AT Protocol, "OAuth"
public struct ATProtocolUser: Sendable, Hashable {
  /// The user's permanent identifier, a DID; use it to identify the user's account.
  public let did: String
  /// The user's handle; `nil` if the search began with a DID and so verified no handle.
  public let handle: String?
  /// The address of the user's server (PDS), the API that receives the access tokens.
  public let server: String
  /// The issuer identifier of the authorization server.
  public let issuer: String

  /// Finds a user by a handle, such as `alice.bsky.social`, or a DID.
  ///
  /// A handle is a domain name, and the domain names the DID at `/.well-known/atproto-did`. If the
  /// domain names no DID, the search requests the DID from the `handleResolver`, because the SDK
  /// does not query DNS for `TXT` records. The resolver learns which handle the user entered; with
  /// `nil`, the search fails instead. The DID's document, from the `plcDirectory` or from the
  /// domain in a `did:web`, must name the same handle. `timeout` is the time limit of each request.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the text is neither a handle nor a
  ///   supported DID; `SQOAuthError.Code.resourceMetadataInvalid` if the user or a server is not
  ///   found, or if their answers contradict each other; `SQOAuthError.Code.serverError` if a
  ///   server is in trouble; the errors of the transport.
  public static func find(
    _ name: String, environment: ClientEnvironment = ClientEnvironment(),
    handleResolver: String? = "https://public.api.bsky.app",
    plcDirectory: String = "https://plc.directory", timeout: Duration = .seconds(20)
  ) async throws(SQOAuthError) -> ATProtocolUser {
    try await ATProtocolSearch(
      environment: environment, handleResolver: handleResolver, plcDirectory: plcDirectory,
      timeout: timeout
    ).user(name)
  }

  /// Returns the configuration of a client for this user's sign-in.
  ///
  /// `clientID` is the address of the client's metadata document (`ClientMetadata.document`), or
  /// ``loopbackClientID(redirectURI:scope:)`` during development. With a `clientKey` the client is
  /// confidential. The `scope` must contain `atproto`.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration`; the message says what to change.
  public func configuration(
    clientID: String, clientKey: ClientKey? = nil, redirectURI: String, scope: String = "atproto"
  ) throws(SQOAuthError) -> ClientConfiguration {
    guard scope.words.contains("atproto") else {
      throw SQOAuthError(
        .invalidConfiguration, "a sign-in by AT Protocol needs the scope \"atproto\"")
    }
    var configuration = try ClientConfiguration(
      clientID: clientID, clientKey: clientKey, redirectURI: redirectURI, scope: scope,
      provider: .issuer(issuer),
      clientAuthentication: clientKey == nil ? .publicClient : .privateKeyJWT,
      authorizationParameters: ["login_hint": handle ?? did])
    configuration.tokenBinding = .dpop()
    configuration.pushesAuthorizationRequests = true
    configuration.requiredScopes = ["atproto"]
    // The server must issue the token for the user whose DID led to it.
    configuration.expectedSubject = did
    configuration.acceptsServersOnThisComputer = false
    configuration.resourceOrigins = [try ResourceOrigin(server)]
    return configuration
  }

  /// Returns the identifier of a client without a metadata document, for development.
  ///
  /// The server reads the client's description from the identifier itself. Users see no name of the
  /// app, and some servers may refuse such a client.
  ///
  /// - SeeAlso: AT Protocol, "OAuth", "Localhost Client Development"
  public static func loopbackClientID(
    redirectURI: String = "http://127.0.0.1/callback", scope: String = "atproto"
  ) -> String {
    "http://localhost?redirect_uri=\(FormCoding.encodePathSegment(redirectURI))"
      + "&scope=\(FormCoding.encodePathSegment(scope))"
  }
}

import SQBasics
package import SequencingOAuth

/// The steps that a client would take to get access to its resource.
///
/// Finding them registers no client and signs no user in.
package struct AccessPlan: Sendable {
  /// The program's client at an authorization server.
  package enum Identity: Sendable, Hashable {
    /// A client that was registered by hand.
    case byHand(String)
    /// The client whose identifier is the address of its metadata document.
    case document(String)
    /// A client that the program registered at the server before.
    case registered(String)
    /// A client that the program would register at this registration endpoint.
    case willRegister(String)
  }

  /// An authorization server of the resource, and whether the program can use it.
  package struct Server: Sendable {
    package let issuer: String
    package let metadata: ProviderMetadata?
    package let identity: Identity?
    /// The client for the sign-in; `nil` if the program would register it.
    let client: IdentifiedClient?
    /// Why the server cannot be used; `nil` for the server that would be used.
    package let problem: SQOAuthError?
  }

  /// The resource's description.
  package let resource: DiscoveredResource
  /// The servers that were tried, in order; only the last one can be usable.
  package let servers: [Server]
  /// The scopes that the sign-in would ask for; `nil` for the server's default.
  package let scope: String?
  /// How the tokens would be bound; `nil` if they would not be bound.
  package let binding: TokenBinding?

  /// The server that would be used; `nil` if no server can be used.
  package var server: Server? { servers.last { $0.problem == nil } }
}

extension ResourceClient {
  /// Finds out what a sign-in would do; sends only requests for metadata.
  package func plan(after response: WebResponse?) async throws(SQOAuthError) -> AccessPlan {
    let found = try await discover(after: response)
    let challenges = response?.headers.tokenChallenges ?? []
    var servers: [AccessPlan.Server] = []
    for issuer in try await candidates(of: found.metadata) {
      servers.append(try await planned(issuer))
      if servers.last?.problem == nil { break }
    }
    let chosen = servers.last { $0.problem == nil }
    let demanded = try binding(challenges, found.metadata, of: chosen?.client)
    // A client that was registered by hand may bind its tokens although neither the resource nor
    // the app asks for it.
    let client = chosen?.client.map {
      configuration(of: $0, binding: demanded, for: found.metadata.resource)
    }
    return AccessPlan(
      resource: found, servers: servers,
      scope: chosen.flatMap { server in
        scope(challenges, found.metadata, server.metadata, server.client, after: nil)
      },
      binding: client?.newBinding ?? demanded)
  }

  private func planned(_ issuer: String) async throws(SQOAuthError) -> AccessPlan.Server {
    var metadata: ProviderMetadata?
    do throws(SQOAuthError) {
      let found = try await self.metadata(of: issuer)
      metadata = found
      do throws(SQOAuthError) {
        try check(found, of: issuer, forCode: false)
      } catch {
        // The user may still sign in with a browser on another device.
        guard error.code != .clientUnknown, found.deviceAuthorizationEndpoint != nil else {
          throw error
        }
      }
      let (identity, client) = try await identification.planned(at: issuer, found)
      return AccessPlan.Server(
        issuer: issuer, metadata: found, identity: identity, client: client, problem: nil)
    } catch {
      guard error.code != .cancelled else { throw error }
      return AccessPlan.Server(
        issuer: issuer, metadata: metadata, identity: nil, client: nil, problem: error)
    }
  }
}

/// Which servers may see the tokens of one account.
///
/// Where the client lists its servers (``ClientConfiguration/resourceOrigins``), the list decides. Else
/// these may: the provider's own servers, those that the app named, and, where neither named an API,
/// the server of the app's first request. A server that only an answer named is none of them.
struct ResourceServers {
  /// Named by ``AuthorizationModule/allowTokens(at:)``.
  private var allowed: Set<ResourceOrigin> = []
  /// Named by a pipe or an RPC channel.
  private var named: Set<ResourceOrigin> = []
  /// The server of the app's first request, where neither the app nor the provider named an API.
  ///
  /// No API had answered before that request, so none could have chosen its URL.
  private var first: ResourceOrigin?

  /// Takes the app's word for servers, whether or not the client has a list.
  mutating func allow(_ origins: some Sequence<ResourceOrigin>) {
    allowed.formUnion(origins)
  }

  /// Takes the app's word for the server of a pipe or a channel.
  mutating func name(_ origin: ResourceOrigin) {
    named.insert(origin)
  }

  /// Forgets the first request's server: it was one of another provider's APIs.
  mutating func providerDidChange() {
    first = nil
  }

  /// Whether a server may see the tokens.
  func allow(_ origin: ResourceOrigin, of client: ClientConfiguration) -> Bool {
    if allowed.contains(origin) || client.resourceOrigins.contains(origin) { return true }
    guard client.resourceOrigins.isEmpty else { return false }
    return named.contains(origin) || first == origin || client.isProviders(origin)
  }

  /// Whether a server may see the tokens, where the app itself gave the URL.
  mutating func admit(_ origin: ResourceOrigin, of client: ClientConfiguration) -> Bool {
    if allow(origin, of: client) { return true }
    guard client.resourceOrigins.isEmpty, named.isEmpty, allowed.isEmpty, first == nil,
      !client.provider.namesAPIs
    else { return false }
    first = origin
    return true
  }

  /// Why a server may not see the tokens, and the line that lets it.
  func refusal(of origin: ResourceOrigin, _ client: ClientConfiguration) -> SQOAuthError {
    guard client.resourceOrigins.isEmpty else {
      return SQOAuthError(
        .originNotAllowed,
        "\(origin) is none of the resourceOrigins of the client; the token was not sent. If it may "
          + "see the token, add it: "
          + "configuration.resourceOrigins.insert(try ResourceOrigin(\"\(origin)\"))")
    }
    // Once the app names a server, its first request is no name any more.
    let servers = [first, origin].compactMap { $0.map { "\"\($0)\"" } }.joined(separator: ", ")
    return SQOAuthError(
      .originNotAllowed,
      "the app did not name \(origin) as a server that may see the token, so the token was not "
        + "sent. If it may, say so once: try module.allowTokens(at: \(servers))")
  }
}

extension ClientConfiguration {
  /// Whether a server is one of the provider's own: its issuer, its endpoints, or an API of its.
  fileprivate func isProviders(_ origin: ResourceOrigin) -> Bool {
    providerOrigins.contains(origin) || provider.hasAPI(at: origin)
  }
}

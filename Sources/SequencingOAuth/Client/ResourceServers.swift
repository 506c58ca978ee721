/// The servers that may get the tokens of one account.
///
/// If the client lists its servers (``ClientConfiguration/resourceOrigins``), only those and the
/// servers of ``AccountOperations/allowTokens(at:)-(String...)`` get the tokens. Without a list,
/// the provider's own servers and the servers that the app named get them. If no API is named, the
/// server of the first request gets them too, unless an ``AccountManager`` created the account's
/// module.
struct ResourceServers {
  /// The servers that the app named by ``AccountOperations/allowTokens(at:)-(String...)``.
  private var allowed: Set<ResourceOrigin> = []
  /// The servers for which the app has created a pipe or an RPC channel.
  private var named: Set<ResourceOrigin> = []
  /// The server of the first request of this module in this process, if neither the app nor the
  /// provider named an API.
  ///
  /// Before that request no API had responded to this module, so no API can have chosen the
  /// request's URL, unless the app stored a URL in an earlier run. The server may be the provider's
  /// own, because that server may have an API.
  private var first: ResourceOrigin?
  /// Whether an ``AccountManager`` created the account's module.
  ///
  /// Then no server gets the tokens because its request was the first. A program with many accounts
  /// creates their modules again and again, and an earlier module's response, or a link that a user
  /// follows, may have chosen the URL of the first request.
  var isManaged = false

  /// Allows servers that the app names, whether or not the client has a list.
  mutating func allow(_ origins: some Sequence<ResourceOrigin>) {
    allowed.formUnion(origins)
  }

  /// Records a server for which the app has created a pipe or an RPC channel.
  mutating func addNamed(_ origin: ResourceOrigin) {
    named.insert(origin)
  }

  /// Forgets the server of the first request, because it belonged to the earlier provider.
  mutating func providerDidChange() {
    first = nil
  }

  /// Returns whether a server may get the tokens.
  func allows(_ origin: ResourceOrigin, of client: ClientConfiguration) -> Bool {
    if allowed.contains(origin) || client.resourceOrigins.contains(origin) { return true }
    guard client.resourceOrigins.isEmpty else { return false }
    return named.contains(origin) || first == origin || client.isProviders(origin)
  }

  /// Returns whether a server may get the tokens if the app itself gave its URL.
  ///
  /// If no API is named yet, this records the server as the server of the app's first request.
  mutating func allowsFirst(_ origin: ResourceOrigin, of client: ClientConfiguration) -> Bool {
    let isFirst =
      client.resourceOrigins.isEmpty && named.isEmpty && allowed.isEmpty && first == nil
      && !client.provider.namesAPIs && !isManaged
    if isFirst { first = origin }
    return allows(origin, of: client)
  }

  /// Returns the error for a server that must not get the tokens; its message has the line of code
  /// that allows the server.
  func refusal(of origin: ResourceOrigin, _ client: ClientConfiguration) -> SQOAuthError {
    guard client.resourceOrigins.isEmpty else {
      return SQOAuthError(
        .originNotAllowed,
        "the client's resourceOrigins do not list \(origin), so the token was not sent. If that "
          + "server may see the token, add it: "
          + "configuration.resourceOrigins.insert(try ResourceOrigin(\"\(origin)\"))")
    }
    guard !isManaged else {
      // A list replaces the servers of pipes and RPC channels, so the line names them too.
      let servers = named.union([origin]).map { "try ResourceOrigin(\"\($0)\")" }.sorted()
      return SQOAuthError(
        .originNotAllowed,
        "the app did not name \(origin) as a server that may see the token, so the token was not "
          + "sent. If that server may see it, list in the client all servers to which the app sends "
          + "requests, also the provider's own: configuration.resourceOrigins = [\(servers.joined(separator: ", "))]"
      )
    }
    // If the app calls `allowTokens` before its first request, that request no longer allows its
    // server. So the message also names the server of the app's first request.
    let servers = [first.flatMap { client.isProviders($0) ? nil : $0 }, origin]
      .compactMap { $0.map { "\"\($0)\"" } }.joined(separator: ", ")
    return SQOAuthError(
      .originNotAllowed,
      "the app did not name \(origin) as a server that may see the token, so the token was not "
        + "sent. If that server may see it, say so once: try module.allowTokens(at: \(servers))")
  }
}

extension ClientConfiguration {
  /// Returns whether a server belongs to the provider: as its issuer, a configured endpoint or an
  /// API.
  fileprivate func isProviders(_ origin: ResourceOrigin) -> Bool {
    providerOrigins.contains(origin) || provider.hasAPI(at: origin)
  }
}

// The servers that may get the account's tokens.
extension ClientContext {
  /// Throws if a server may not get the tokens; `namedByApp` tells whether the app gave the URL.
  ///
  /// It remembers the server of the app's first request.
  func check(_ origin: ResourceOrigin, namedByApp: Bool) throws(SQOAuthError) {
    let refusal = withServers { servers, configuration -> Result<SQOAuthError?, SQOAuthError> in
      configuration.map { client in
        let isAllowed =
          namedByApp
          ? servers.allowsFirst(origin, of: client) : servers.allows(origin, of: client)
        return isAllowed ? nil : servers.refusal(of: origin, client)
      }
    }
    if let refusal = try refusal.get() { throw refusal }
  }

  /// Allows servers because the app names them, even if the client has a list without them.
  func allowTokens(at origins: [ResourceOrigin]) {
    withServers { servers, _ in servers.allow(origins) }
  }

  /// Notes a server that the app names by a pipe or a channel.
  func addNamed(_ origin: ResourceOrigin) {
    withServers { servers, _ in servers.addNamed(origin) }
  }
}

// Which servers may see the account's tokens.
extension ClientContext {
  /// Refuses a server that may not see the tokens; `namedByApp` says that the app itself gave the URL.
  func check(_ origin: ResourceOrigin, namedByApp: Bool) throws(SQOAuthError) {
    let refusal = withServers { servers, configuration -> Result<SQOAuthError?, SQOAuthError> in
      configuration.map { client in
        let isAllowed =
          namedByApp
          ? servers.admit(origin, of: client) : servers.allow(origin, of: client)
        return isAllowed ? nil : servers.refusal(of: origin, client)
      }
    }
    if let refusal = try refusal.get() { throw refusal }
  }

  /// Takes the app's word for servers, whatever the client lists.
  func allowTokens(at origins: [ResourceOrigin]) {
    withServers { servers, _ in servers.allow(origins) }
  }

  /// Takes the app's word for the server of a pipe or a channel.
  func name(_ origin: ResourceOrigin) {
    withServers { servers, _ in servers.name(origin) }
  }
}

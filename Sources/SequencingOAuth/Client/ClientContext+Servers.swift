// The servers that may get the account's tokens.
extension ClientContext {
  /// Refuses a server that may not get the tokens; `namedByApp` says that the app itself gave the
  /// URL.
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

  /// Allows servers because the app names them, even if the client has a list without them.
  func allowTokens(at origins: [ResourceOrigin]) {
    withServers { servers, _ in servers.allow(origins) }
  }

  /// Records the server of a pipe or a channel as one that the app names.
  func name(_ origin: ResourceOrigin) {
    withServers { servers, _ in servers.name(origin) }
  }
}

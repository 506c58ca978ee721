// The servers that may get the account's tokens.
extension ClientContext {
  /// Throws if a server must not get the tokens.
  ///
  /// `namedByApp` says whether the URL came from the app. If it did, this method may record the
  /// server as the server of the app's first request.
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

  /// Allows servers that the app names, even servers that are not in the client's list.
  func allowTokens(at origins: [ResourceOrigin]) {
    withServers { servers, _ in servers.allow(origins) }
  }

  /// Records a server for which the app has created a pipe or an RPC channel.
  func addNamed(_ origin: ResourceOrigin) {
    withServers { servers, _ in servers.addNamed(origin) }
  }
}

// The servers that may get the account's tokens.
extension ClientContext {
  /// Throws if a server must not get the tokens.
  ///
  /// `namedByApp` says whether the URL came from the app. If it did, this method may record the
  /// server as the server of the app's first request.
  ///
  /// With the record of a token, this method also throws if the token is not of the client and
  /// server that allow the origin. The app may register another client between two calls, so this
  /// is decided in one.
  func check(
    _ origin: ResourceOrigin, namedByApp: Bool, for record: AccountRecord? = nil
  ) throws(SQOAuthError) {
    let refusal = withServers { servers, configuration -> Result<SQOAuthError?, SQOAuthError> in
      configuration.map { client in
        if let record, !record.isOf(client) { return .ofAnotherClient(record) }
        let isAllowed =
          namedByApp
          ? servers.allowsFirst(origin, of: client) : servers.allows(origin, of: client)
        return isAllowed ? nil : servers.refusal(of: origin, client)
      }
    }
    if let refusal = try refusal.get() { throw refusal }
  }

  /// The registered client, and how long before the end of a sign-in the session reports it.
  var clientAndNotice: (AccountRecord.Origin?, Duration) {
    withServers { _, configuration in
      let client = try? configuration.get()
      return (client?.origin, client?.endNotice ?? .zero)
    }
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

import SQBasics

// The resource servers that a client's tokens are for, and the servers that may get them.
extension ClientConfiguration {
  /// The identifiers of the resource servers that the tokens are for; empty by default.
  ///
  /// Each is an absolute URI without a fragment. Every authorization request and token request,
  /// including each refresh, contains them unchanged, so that the authorization server issues
  /// tokens for these servers only. A token exchange and
  /// ``AccountOperations/narrowedToken(for:scope:)`` may name other resources in their place; they
  /// leave out a parameter `audience` of the provider or of the initializer that names another
  /// service. If the list is not empty, the SDK does not send a parameter `resource` of the provider
  /// or of the initializer.
  ///
  /// - SeeAlso: RFC 8707, section 2
  public var resources: [String] {
    get { values.value.resources }
    set { values.value.resources = newValue }
  }

  /// The servers that may get the tokens; empty by default.
  ///
  /// If the set is not empty, requests with a token go only to its servers and to those of
  /// ``AccountOperations/allowTokens(at:)-(String...)``. If it is empty, they go only to:
  ///
  /// - the provider's own servers that are known without a request: the issuer's server, the
  ///   servers of endpoints that the app gave, and the APIs that a preset such as
  ///   ``Provider/google`` names;
  /// - the servers that the app names by a `Pipeline.Pipe`, by an `RPCChannel` or by
  ///   ``AccountOperations/allowTokens(at:)-(String...)``;
  /// - if neither the provider nor the app names an API, and no ``AccountManager`` created the
  ///   module, the server of the first request that the app sends or authenticates with this module
  ///   in this process; this may be the provider's own server.
  ///
  /// So an app that stores URLs from a server's responses, or whose first URL may come from
  /// elsewhere, must list its servers here. In a program with many accounts, any request may be the
  /// first one of an account's module, so the modules of a manager have no such rule.
  ///
  /// A request to any other server fails with ``SQOAuthError/Code/originNotAllowed``. The SDK's own
  /// requests to the provider, such as the request to its UserInfo endpoint, need no permission. In
  /// every case a token is sent only over https, or over http to a loopback address.
  ///
  /// - SeeAlso: RFC 9700, section 4.9
  public var resourceOrigins: Set<ResourceOrigin> {
    get { values.value.resourceOrigins }
    set { values.value.resourceOrigins = newValue }
  }

  /// The parameters that name the ``resources``.
  var resourceParameters: [FormCoding.Pair] { resources.map { FormCoding.Pair("resource", $0) } }

  /// Returns the client for tokens of these resources only.
  ///
  /// It sends no parameter `audience` that names anything else, because many servers go by that
  /// parameter, and would issue tokens for a service that `resources` does not contain.
  package func limited(to resources: [String]) -> ClientConfiguration {
    var configuration = self
    configuration.resources = resources
    func isForOther(_ parameter: FormCoding.Pair) -> Bool {
      parameter.name == "audience" && !resources.contains(parameter.value)
    }
    configuration.values.value.authorizationParameters.removeAll(where: isForOther)
    configuration.values.value.tokenParameters.removeAll(where: isForOther)
    return configuration
  }

  /// Throws unless each resource is an absolute URI without a fragment.
  ///
  /// - SeeAlso: RFC 8707, section 2
  func checkResources() throws(SQOAuthError) {
    for resource in resources { try ResourceIndicator.check(resource) }
  }
}

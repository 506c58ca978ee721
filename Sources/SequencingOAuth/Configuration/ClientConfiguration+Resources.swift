import SQBasics

// The resource servers that a client's tokens are for.
extension ClientConfiguration {
  /// The identifiers of the resource servers that the tokens are for; empty by default.
  ///
  /// Each is an absolute URI without a fragment. They are sent as they are in every authorization
  /// request and token request, refreshes included, so that the authorization server issues tokens
  /// for these servers only. A parameter `resource` of the provider or of the initializer is not sent
  /// then.
  ///
  /// - SeeAlso: RFC 8707, section 2
  public var resources: [String] {
    get { values.value.resources }
    set { values.value.resources = newValue }
  }

  /// The parameters that name the ``resources``.
  var resourceParameters: [FormCoding.Pair] { resources.map { FormCoding.Pair("resource", $0) } }

  /// Throws if a resource is not an absolute URI without a fragment.
  ///
  /// - SeeAlso: RFC 8707, section 2
  func checkResources() throws(SQOAuthError) {
    for resource in resources { try ResourceIndicator.check(resource) }
  }
}

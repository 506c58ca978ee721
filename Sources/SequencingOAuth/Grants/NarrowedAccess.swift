import SQBasics

/// A part of an account's rights: some of its resources, some of its scopes, or both.
///
/// - SeeAlso: RFC 6749, section 6; RFC 8707, section 2.2
package struct NarrowedAccess: Sendable, Hashable {
  /// The resources in the request's order; empty for all resources of the account.
  private let exactResources: [ExactText]
  /// The scope; `nil` for the account's whole scope.
  private let exactScope: ExactText?
  /// The exchange of the account's refresh token that gets the token; `nil` for a refresh.
  let exchange: TokenExchange?

  var resources: [String] { exactResources.map(\.text) }
  var scope: String? { exactScope?.text }

  init(_ resources: [String], scope: String?) {
    exactResources = resources.map(ExactText.init)
    exactScope = scope.map(ExactText.init)
    exchange = nil
  }

  /// Creates the access of a token for which the account's refresh token is exchanged.
  init(by exchange: TokenExchange) {
    (exactResources, exactScope, self.exchange) = ([], nil, exchange)
  }

  /// Throws if neither resources nor scopes are named, or if a resource is malformed or is missing
  /// from the configuration's resources.
  func check(of configuration: ClientConfiguration) throws(SQOAuthError) {
    guard !exactResources.isEmpty || exactScope?.text.words.isEmpty == false else {
      throw SQOAuthError(
        .invalidConfiguration, "name the resources or the scopes that the token is for")
    }
    for resource in resources { try ResourceIndicator.check(resource) }
    let known = Set(configuration.resources.map(ExactText.init))
    guard !known.isEmpty, let other = exactResources.first(where: { !known.contains($0) }) else {
      return
    }
    throw SQOAuthError(
      .invalidConfiguration,
      "the configuration's resources do not contain \"\(other.text.printable)\", so the account has "
        + "no access to it")
  }
}

extension RegisteredClient {
  /// Returns a client that requests only the resources in `access`, and requires no scopes.
  func narrowed(to access: NarrowedAccess) -> RegisteredClient {
    var configuration = configuration
    if !access.resources.isEmpty { configuration = configuration.limited(to: access.resources) }
    configuration.requiredScopes = []
    return RegisteredClient(
      configuration: configuration, environment: environment, metadata: metadata,
      proofKey: proofKey)
  }
}

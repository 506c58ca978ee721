import SQBasics

// What the client demands of its server and of each token.
extension ClientConfiguration {
  /// The scopes that a token must have; a sign-in that does not grant all of them fails.
  public var requiredScopes: Set<String> {
    get { values.value.requiredScopes }
    set { values.value.requiredScopes = newValue }
  }
  /// The user whom each token response must name in its member `sub`; `nil`, the default, for any
  /// user.
  ///
  /// A response that names a different user or no user fails with
  /// ``SQOAuthError/Code/idTokenSubject``, and its token is not used. AT Protocol demands this
  /// check, with the user's DID.
  public var expectedSubject: String? {
    get { values.value.expectedSubject }
    set { values.value.expectedSubject = newValue }
  }
  /// Whether the server, and the endpoints in its metadata, may be on this computer: `true` by
  /// default.
  ///
  /// Set it to `false` if a user or another server names the issuer. Otherwise they could make this
  /// computer send requests to itself. With `false`, if the issuer or any endpoint in the metadata
  /// is on this computer, an operation that needs the metadata fails with
  /// ``SQOAuthError/Code/insecureEndpoint``. The SDK still accepts endpoints from the app, and does
  /// not recognize names that DNS resolves to this computer.
  public var acceptsServersOnThisComputer: Bool {
    get { values.value.acceptsServersOnThisComputer }
    set { values.value.acceptsServersOnThisComputer = newValue }
  }
}

import SQBasics

/// The parameters of a sign-in that passed every check.
///
/// The redirect URI is checked earlier, because errors in these parameters are sent to it.
struct CheckedAuthorization: Redacted {
  let client: SandboxClient
  let scopes: [String]
  let details: [SandboxJSON]
  let challenge: String?
  let openID: OpenIDRequest
  /// The thumbprint of the key that the code will be bound to.
  let key: String?
  /// The resources for which the client asks, by their identifiers.
  let resources: [String]

  init(
    _ query: [SandboxParameter], _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(OAuthFault) {
    try Self.checkResponse(query, client)
    try sandbox.checkResponseMode(of: query)
    try Self.checkPKCE(
      query, isRequired: !client.isConfidential || sandbox.options.requiresPKCEOfAll)
    self.client = client
    challenge = query.value("code_challenge")
    details = try AuthorizationDetails.read(
      query.value("authorization_details"), for: client, sandbox)
    scopes = try sandbox.scopes(query.value("scope"), for: client, details: details)
    openID = try OpenIDRequest(query, sandbox)
    key = try sandbox.key(ofSignIn: query)
    resources = try sandbox.resources(in: query)
  }

  private static func checkResponse(
    _ query: [SandboxParameter], _ client: SandboxClient
  ) throws(OAuthFault) {
    guard !query.withoutResources.hasDuplicates else {
      throw .invalidRequest("A parameter came more than once.")
    }
    for name in ["request", "request_uri"] where query.value(name) != nil {
      throw OAuthFault(code: "\(name)_not_supported", description: "Send plain parameters.")
    }
    guard let responseType = query.value("response_type") else {
      throw .invalidRequest("response_type is missing.")
    }
    guard responseType == "code" else {
      throw OAuthFault(
        code: "unsupported_response_type", description: "Only the response type code is supported.")
    }
    guard client.accepts(grantType: "authorization_code") else {
      throw .unauthorizedClient("This client may not use the code grant.")
    }
  }

  private static func checkPKCE(
    _ query: [SandboxParameter], isRequired: Bool
  ) throws(OAuthFault) {
    guard let challenge = query.value("code_challenge") else {
      guard !isRequired, query.value("code_challenge_method") == nil else {
        throw .invalidRequest("code_challenge is missing.")
      }
      return
    }
    guard query.value("code_challenge_method") == "S256" else {
      throw .invalidRequest("code_challenge_method must be S256.")
    }
    guard Crypto.isDigest(challenge) else {
      throw .invalidRequest("code_challenge is not an S256 hash.")
    }
  }
}

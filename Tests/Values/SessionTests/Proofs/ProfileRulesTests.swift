import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// What a client of FAPI 2.0 and its server need, before a user sees a page.
@Suite(.timeLimit(.minutes(1))) struct ProfileRulesTests {
  private static let issuer = "https://id.example"

  private static let metadata: [String: JSONValue] = [
    "issuer": .string(issuer), "authorization_endpoint": "https://id.example/authorize",
    "token_endpoint": "https://id.example/token", "jwks_uri": "https://id.example/jwks",
    "pushed_authorization_request_endpoint": "https://id.example/par",
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": true,
    "token_endpoint_auth_methods_supported": ["private_key_jwt"],
    "dpop_signing_alg_values_supported": ["ES256"],
    "id_token_signing_alg_values_supported": ["RS256", "PS256"],
    "response_modes_supported": ["query", "jwt"],
    "authorization_signing_alg_values_supported": ["PS256"],
    "request_object_signing_alg_values_supported": ["ES256"],
  ]

  private func client(
    _ profile: SecurityProfile = .fapi2MessageSigning, changing: [String: JSONValue?] = [:],
    key: ClientKey? = nil, change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> RegisteredClient {
    var members = Self.metadata
    for (name, value) in changing { members[name] = value }
    var configuration = try ClientConfiguration(
      clientID: "client", clientKey: try key ?? ClientKey(generating: .es256),
      redirectURI: "com.example.app:/cb", scope: "openid", provider: .issuer(Self.issuer))
    configuration.profile = profile
    change(&configuration)
    return RegisteredClient(
      configuration: configuration, environment: ClientEnvironment(),
      metadata: try ProviderMetadata(members: members, issuer: Self.issuer))
  }

  @Test(arguments: [SecurityProfile.fapi2, .fapi2MessageSigning])
  func `a server with all that the profile needs is accepted`(profile: SecurityProfile) throws {
    let client = try client(profile)
    let grant = try PreparedCodeGrant(SignInOptions(), client)
    #expect(grant.pushEndpoint != nil && grant.isSigned == profile.signsMessages)
    #expect(grant.responseAlgorithms == (profile.signsMessages ? [.ps256] : nil))
    let request = try CodeRequest(grant, client, redirectURI: "com.example.app:/cb")
    #expect(request.proofKey?.algorithm == "ES256" && request.requiresIssuer)
  }

  @Test(arguments: [
    "pushed_authorization_request_endpoint", "code_challenge_methods_supported",
    "token_endpoint_auth_methods_supported", "dpop_signing_alg_values_supported",
    "response_modes_supported", "authorization_signing_alg_values_supported",
    "request_object_signing_alg_values_supported",
  ])
  func `if the metadata lacks a required member, the error names the member`(name: String) throws {
    let client = try client(changing: [name: .none])
    let error = failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) }
    #expect(error?.message.contains(name) == true)
  }

  @Test(
    arguments: [
      ("dpop_signing_alg_values_supported", ["RS256"]),
      ("code_challenge_methods_supported", ["plain"]),
      ("token_endpoint_auth_methods_supported", ["client_secret_jwt", "none"]),
      ("authorization_signing_alg_values_supported", ["RS256"]),
      ("request_object_signing_alg_values_supported", ["PS256"]),
      ("response_modes_supported", ["query"]),
    ] as [(String, [String])])
  func `a server whose metadata lists no value that the profile allows is refused`(
    name: String, values: [String]
  ) throws {
    let client = try client(changing: [name: .array(values.map(JSONValue.string))])
    let error = failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) }
    #expect(error?.message.contains(name) == true)
  }

  private static let assertionLists: [(list: [String]?, isAccepted: Bool)] = [
    (nil, true), (["ES256"], true), (["PS256", "ES256"], true), (["PS256"], false), ([], false),
    (["none"], false), (["HS256"], false), (["es256"], false),
  ]

  @Test(arguments: assertionLists.indices, [SecurityProfile.standard, .fapi2])
  func `a client assertion's algorithm must be in the server's list, if the server has a list`(
    index: Int, profile: SecurityProfile
  ) throws {
    let row = Self.assertionLists[index]
    let name = "token_endpoint_auth_signing_alg_values_supported"
    let list = row.list.map { JSONValue.array($0.map(JSONValue.string)) }
    let client = try client(profile, changing: [name: list])
    guard !row.isAccepted else {
      _ = try PreparedCodeGrant(SignInOptions(), client)
      _ = try client.provingAnew()
      return
    }
    for error in [
      failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) },
      failure(.signInUnsupported) { try client.provingAnew() },
    ] {
      #expect(error?.message.contains(name) == true)
    }
  }

  @Test(arguments: [(["HS256"], true), (["ES256"], false)])
  func `HS256 for client_secret_jwt must be in the server's list of algorithms`(
    list: [String], isAccepted: Bool
  ) throws {
    var members = Self.metadata
    members["token_endpoint_auth_signing_alg_values_supported"] = .array(
      list.map(JSONValue.string))
    let client = RegisteredClient(
      configuration: try ClientConfiguration(
        clientID: "client", clientSecret: String(repeating: "s", count: 32),
        redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer),
        clientAuthentication: .clientSecretJWT),
      environment: ClientEnvironment(),
      metadata: try ProviderMetadata(members: members, issuer: Self.issuer))
    if isAccepted {
      _ = try PreparedCodeGrant(SignInOptions(), client)
    } else {
      failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) }
    }
  }

  @Test func `a client without an assertion ignores the server's list of assertion algorithms`()
    throws
  {
    var members = Self.metadata
    members["token_endpoint_auth_signing_alg_values_supported"] = ["PS256"]
    let client = RegisteredClient(
      configuration: try ClientConfiguration(
        clientID: "client", redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer)),
      environment: ClientEnvironment(),
      metadata: try ProviderMetadata(members: members, issuer: Self.issuer))
    _ = try PreparedCodeGrant(SignInOptions(), client)
  }

  @Test
  func `FAPI 2.0 without message signing requires iss in the response, but no signing metadata`()
    throws
  {
    let signing = [
      "response_modes_supported", "authorization_signing_alg_values_supported",
      "request_object_signing_alg_values_supported",
    ]
    let without = Dictionary(uniqueKeysWithValues: signing.map { ($0, JSONValue?.none) })
    _ = try PreparedCodeGrant(SignInOptions(), client(.fapi2, changing: without))
    let name = "authorization_response_iss_parameter_supported"
    let client = try client(.fapi2, changing: [name: .none])
    let error = failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) }
    #expect(error?.message.contains(name) == true)
  }

  @Test func `the error names all missing metadata members at once`() throws {
    let client = try client(
      changing: [
        "pushed_authorization_request_endpoint": .none,
        "dpop_signing_alg_values_supported": .none,
      ])
    let error = failure(.signInUnsupported) { try PreparedCodeGrant(SignInOptions(), client) }
    #expect(error?.message.contains("pushed_authorization_request_endpoint") == true)
    #expect(error?.message.contains("dpop_signing_alg_values_supported") == true)
  }

  @Test func `an algorithm or a password grant that the profile does not allow is refused`() throws
  {
    let key = try MadeKeys.key(for: .rs256)
    failure(.invalidConfiguration) {
      try PreparedCodeGrant(SignInOptions(), client(key: key))
    }
    for change: (inout ClientConfiguration) -> Void in [
      { $0.tokenBinding = .dpop(algorithm: .es384) }, { $0.tokenBinding = .dpopKey(key) },
      { $0.authorizationResponseAlgorithm = .rs256 }, { $0.allowsPasswordGrant = true },
    ] {
      failure(.invalidConfiguration) {
        try PreparedCodeGrant(SignInOptions(), client(change: change))
      }
    }
  }

  @Test func `the profile refuses RS256 for ID tokens, even if the server lists only RS256`()
    throws
  {
    let only = ["id_token_signing_alg_values_supported": JSONValue?.some(["RS256"])]
    failure(.openIDUnsupported) {
      try client(changing: only).idTokenValidator()
    }
    _ = try client(.standard, changing: only).idTokenValidator()
    failure(.openIDUnsupported) { try client { $0.idTokenAlgorithm = .rs256 }.idTokenValidator() }
    _ = try client { $0.idTokenAlgorithm = .ps256 }.idTokenValidator()
  }

  @Test func `a configuration that does not meet the profile's requirements is refused`()
    throws
  {
    let key = try ClientKey(generating: .es256)
    var configurations = [
      try ClientConfiguration(
        clientID: "client", clientKey: key, redirectURI: "com.example.app:/cb",
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token")),
      try ClientConfiguration(
        clientID: "client", clientSecret: String(repeating: "s", count: 40),
        redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer)),
      try ClientConfiguration(
        clientID: "client", redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer)),
    ]
    // The SDK does not know which algorithm an assertion source uses.
    configurations.append(
      try ClientConfiguration(
        clientID: "client", clientKey: key, clientAssertionSource: AssertionSource { _ in "" },
        redirectURI: "com.example.app:/cb", provider: .issuer(Self.issuer)))
    var provider = Provider.issuer(Self.issuer)
    provider.assertionAudience = .tokenEndpoint
    configurations.append(
      try ClientConfiguration(
        clientID: "client", clientKey: key, redirectURI: "com.example.app:/cb", provider: provider))
    for var configuration in configurations {
      configuration.profile = .fapi2
      let client = RegisteredClient(
        configuration: configuration, environment: ClientEnvironment(),
        metadata: try ProviderMetadata(members: Self.metadata, issuer: Self.issuer))
      failure(.invalidConfiguration) { try PreparedCodeGrant(SignInOptions(), client) }
    }
  }
}

import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The name that a client writes for Ed25519 into the headers that it signs (RFC 9864).
@Suite struct AlgorithmNameTests {
  /// The algorithms that a server lists, and the name that the client writes into its headers.
  static let lists: [(listed: [String]?, name: String)] = [
    (nil, "EdDSA"), ([], "EdDSA"), (["EdDSA"], "EdDSA"), (["Ed25519"], "Ed25519"),
    (["ES256", "Ed25519"], "Ed25519"), (["Ed25519", "EdDSA"], "EdDSA"), (["ed25519"], "EdDSA"),
  ]

  @Test(arguments: lists.indices)
  func `the name Ed25519 is used only if the server lists it without EdDSA`(index: Int) {
    let row = Self.lists[index]
    #expect(JWSAlgorithm.edDSA.name(in: row.listed) == row.name)
    #expect(JWSAlgorithm.es256.name(in: row.listed) == "ES256")
    #expect(JWSAlgorithm(named: row.name) == .edDSA)
  }

  @Test(arguments: JWSAlgorithm.allCases)
  func `an algorithm is found by its exact name`(algorithm: JWSAlgorithm) {
    let name = algorithm.rawValue
    #expect(JWSAlgorithm(named: name) == algorithm)
    for other in [name.lowercased(), name + " ", name + marks(31), ""] where other != name {
      #expect(JWSAlgorithm(named: other) == nil)
    }
  }

  @Test(arguments: [
    (["Ed25519"], "Ed25519"), (["EdDSA"], "EdDSA"), (["Ed25519", "EdDSA"], "EdDSA"),
  ])
  func `a proof, an assertion and a signed request use an algorithm name that the server lists`(
    listed: [String], name: String
  ) async throws {
    let issuer = "https://id.example"
    let list = JSONValue.array(listed.map(JSONValue.string))
    let members: [String: JSONValue] = [
      "issuer": .string(issuer), "authorization_endpoint": "https://id.example/authorize",
      "token_endpoint": "https://id.example/token",
      "token_endpoint_auth_signing_alg_values_supported": list,
      "request_object_signing_alg_values_supported": list,
      "dpop_signing_alg_values_supported": list,
    ]
    let key = try ClientKey(generating: .edDSA)
    for binding in [TokenBinding.dpop(), .dpop(algorithm: .edDSA), .dpopKey(key)] {
      var configuration = try ClientConfiguration(
        clientID: "client", clientKey: key, redirectURI: "com.example.app:/cb",
        provider: .issuer(issuer))
      configuration.tokenBinding = binding
      configuration.signsAuthorizationRequests = true
      let client = try RegisteredClient(
        configuration: configuration, environment: ClientEnvironment(),
        metadata: try ProviderMetadata(members: members, issuer: issuer)
      ).provingAnew()
      _ = try PreparedCodeGrant(SignInOptions(), client)
      let url = client.metadata.tokenEndpoint
      let proofKey = try #require(client.proofKey)
      #expect(proofKey.algorithm == name && client.fits(proofKey))
      let prover = try Prover(
        proofKey, appKey: configuration.tokenBinding?.appKey, ProofServers(), ManualClock())
      let texts = [
        try await prover.proof(of: "POST", url, to: .authorization).text,
        try #require(try await client.credentials(at: url).assertion),
        try await client.requestObject(of: [], for: url),
      ]
      for text in texts { #expect(try CompactJWS(text).algorithmName == name) }
    }
  }

  @Test func `proof keys from one app key are equal under both names of Ed25519`() throws {
    let key = try ClientKey(generating: .edDSA)
    #expect(try ProofKey(ofApp: key, as: "Ed25519") == ProofKey(ofApp: key))
    #expect(try ProofKey(ofApp: key) != ProofKey(ofApp: ClientKey(generating: .edDSA)))
  }

  @Test(arguments: [(["Ed25519"], "Ed25519"), (nil, "EdDSA")])
  func `a registration uses the algorithm name that the server lists`(
    listed: [String]?, name: String
  ) throws {
    var metadata = ClientMetadata(
      redirectURIs: ["com.example.app:/cb"], clientAuthentication: .privateKeyJWT)
    metadata.keys = [try ClientKey(generating: .edDSA)]
    let members = metadata.members(listed: listed)
    #expect(members["token_endpoint_auth_signing_alg"] == .string(name))
    #expect(members["jwks"]?["keys"].array?.first?["alg"]?.string == name)
  }
}

import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The document that describes a client, at the address that is the client's identifier.
///
/// - SeeAlso: OAuth Client ID Metadata Document (draft), sections 3 and 4
struct ClientMetadataDocumentTests {
  private static let address = "https://app.example/client.json"
  private let app = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/cb"], clientName: "An app")

  private func members(_ metadata: ClientMetadata) throws -> [String: JSONValue] {
    try JSONDecoder().decode(
      [String: JSONValue].self, from: metadata.document(clientID: Self.address))
  }

  @Test func `the document names its own address and the exact redirect URIs`() throws {
    let members = try members(app)
    #expect(members["client_id"] == .string(Self.address))
    #expect(members["redirect_uris"] == ["http://127.0.0.1/callback", "com.example.app:/cb"])
    #expect(members["token_endpoint_auth_method"] == "none")
    #expect(members["application_type"] == "native" && members["client_name"] == "An app")
    #expect(members["grant_types"] == ["authorization_code", "refresh_token"])
  }

  @Test(
    arguments: [
      (["authorization_code", "refresh_token"], ["code"]), (["client_credentials"], []),
      (["client_credentials", "authorization_code"], ["code"]), ([JWTAssertion.grantType], []),
    ] as [([String], JSONValue)])
  func `the response type code is listed only with the grant authorization_code`(
    grants: [String], types: JSONValue
  ) throws {
    var metadata = app
    metadata.grantTypes = grants
    #expect(try members(metadata)["response_types"] == types)
  }

  @Test func `a client with keys publishes their public halves only`() throws {
    let key = try ClientKey(generating: .es256)
    var metadata = app
    metadata.keys = [key]
    let members = try members(metadata)
    #expect(members["token_endpoint_auth_method"] == "private_key_jwt")
    #expect(members["jwks"]?["keys"][0] == key.publicJWK)
    let text = String(decoding: try metadata.document(clientID: Self.address), as: UTF8.self)
    #expect(!text.contains("\"d\""))
  }

  /// The document is for any server, so no list of a server's algorithms is known.
  @Test(
    arguments: [
      (SecurityProfile.standard, nil, nil), (.mcp, nil, nil), (.fapi2, "ES256", nil),
      (.fapi2MessageSigning, "ES256", "ES256"),
    ] as [(SecurityProfile, JSONValue?, JSONValue?)])
  func `the document asks for signatures that the profile allows`(
    profile: SecurityProfile, idToken: JSONValue?, response: JSONValue?
  ) throws {
    var metadata = app
    metadata.profile = profile
    let members = try members(metadata)
    #expect(members["id_token_signed_response_alg"] == idToken)
    #expect(members["authorization_signed_response_alg"] == response)
  }

  @Test func `additional members cannot add a secret to the document or change its client_id`()
    throws
  {
    var metadata = app
    metadata.additionalMembers = [
      "client_secret": "SECRET", "client_secret_expires_at": 0, "client_id": "other",
    ]
    let members = try members(metadata)
    #expect(members["client_secret"] == nil && members["client_secret_expires_at"] == nil)
    #expect(members["client_id"] == .string(Self.address))
  }

  @Test(arguments: [ClientAuthentication.basic, .post, .clientSecretJWT])
  func `no document is written for a client that authenticates with a secret`(
    authentication: ClientAuthentication
  ) {
    var metadata = app
    metadata.clientAuthentication = authentication
    failure(.invalidConfiguration) { try metadata.document(clientID: Self.address) }
  }

  @Test(arguments: [
    "https://app.example/c", "https://app.example:8443/a/b.json", "https://app.example/c?v=1",
    "https://app.example/...", "HTTPS://app.example/c",
  ])
  func `an https URL with a path is accepted as the document's address`(text: String) throws {
    try ClientMetadata.checkDocumentAddress(text)
  }

  @Test(arguments: [
    "https://app.example", "https://app.example/", "https://app.example?a=b",
    "http://app.example/c", "http://127.0.0.1/c", "https://app.example/c#x",
    "https://u@app.example/c", "https://app.example/a/../c", "https://app.example/./c",
    "https://app.example/a/%2e%2E/c", "https://app.example/%2E", "https://app.example/a/..",
    "app.example/c", "", "urn:example:c",
  ])
  func `a document's address that is no https URL with a plain path is rejected`(text: String) {
    failure { try ClientMetadata.checkDocumentAddress(text) }
    failure { try app.document(clientID: text) }
  }

  // MARK: The kind of program

  @Test(arguments: [
    (["http://127.0.0.1/cb"], "native"), (["com.example.app:/cb"], "native"),
    (["https://app.example/cb"], "web"), (["HTTPS://app.example/cb"], "web"),
    (["https://app.example/cb", "http://127.0.0.1/cb"], "native"),
  ])
  func `the redirect URIs imply the application_type`(uris: [String], kind: String) throws {
    #expect(try members(ClientMetadata(redirectURIs: uris))["application_type"]?.string == kind)
  }

  @Test func `an application_type that the app sets overrides the implied one`() throws {
    var metadata = ClientMetadata(redirectURIs: ["https://app.example/cb"])
    metadata.applicationType = .native
    #expect(try members(metadata)["application_type"] == "native")
    let machine = ClientMetadata(redirectURIs: [], grantTypes: ["client_credentials"])
    #expect(machine.members["application_type"] == nil)
  }
}

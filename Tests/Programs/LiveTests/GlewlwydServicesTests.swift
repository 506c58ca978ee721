import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import TestSupport
import Testing

/// The requests of a service to an independent server.
@Suite(.timeLimit(.minutes(2)), .requires(.glewlwyd)) struct GlewlwydServicesTests {
  /// The metadata of a service.
  ///
  /// The server requires a redirect URI from every client.
  private let service = ClientMetadata(
    redirectURIs: ["https://service.example.com/unused"], clientAuthentication: .post,
    grantTypes: ["client_credentials"], clientName: "A service", scope: "read")

  @Test func `a service registers itself, gets a token and validates it`() async throws {
    try await Glewlwyd.running { server in
      let registrar = ClientRegistrar(issuer: server.issuer)
      let registration = try await registrar.register(service)
      #expect(registration.clientSecret != nil && registration.isManageable)
      let configuration = try registration.configuration(scope: "read")
      let account = AuthorizationModule(configuration: configuration)
      let token = try await account.requestAccessTokenAsClient(scope: "read").accessToken
      // This server uses the scope as the audience of an access token.
      let validator = try AccessTokenValidator(provider: .issuer(server.issuer), audience: "read")
      let own = try await validator.validate(token)
      #expect(own.clientID == registration.clientID && own.scopes == ["read"])
      let told = try #require(
        try await TokenIntrospector(configuration, audience: "read").claims(of: token))
      #expect(told.scopes == ["read"] && told.audience == ["read"])
      #expect(told.identifier == own.identifier && told.expirationDate == own.expirationDate)
      #expect(
        try await TokenIntrospector(configuration, audience: "read").claims(of: "made-up") == nil)
      try await manage(registration, registrar)
    }
  }

  private func manage(
    _ registration: ClientRegistration, _ registrar: ClientRegistrar
  ) async throws {
    let read = try await registrar.read(registration)
    #expect(read.clientID == registration.clientID && read.clientSecret != nil)
    #expect(read.clientAuthentication == .post)
    var changed = service
    changed.clientName = "Another name"
    let updated = try await registrar.update(registration, to: changed)
    #expect(updated.members["client_name"]?.string == "Another name")
    try await registrar.delete(updated)
    await failure { try await registrar.read(updated) }
    let account = AuthorizationModule(
      configuration: try registration.configuration(scope: "read"))
    let error = await failure { try await account.requestAccessTokenAsClient(scope: "read") }
    #expect(error?.status == 403 || error?.code == .invalidClient)
  }

  @Test(arguments: [JWSAlgorithm.es256, .rs256, .edDSA])
  func `a service authenticates with a signature instead of a secret`(algorithm: JWSAlgorithm)
    async throws
  {
    try await Glewlwyd.running { server in
      let key = try ClientKey(generating: algorithm)
      var metadata = service
      metadata.clientAuthentication = .privateKeyJWT
      metadata.keys = [key]
      let registrar = ClientRegistrar(issuer: server.issuer)
      let registration = try await registrar.register(metadata)
      #expect(registration.clientAuthentication == .privateKeyJWT)
      // This server expects the endpoint's URL as the audience of the client's assertion.
      var provider = Provider.issuer(server.issuer)
      provider.assertionAudience = .requestedEndpoint
      func configuration(_ key: ClientKey) throws -> ClientConfiguration {
        try ClientConfiguration(
          clientID: registration.clientID, clientKey: key, scope: "read", provider: provider)
      }
      let account = AuthorizationModule(configuration: try configuration(key))
      let token = try await account.requestAccessTokenAsClient(scope: "read").accessToken
      let claims = try await TokenIntrospector(configuration(key), audience: nil).claims(of: token)
      #expect(claims?.scopes == ["read"])
      try await account.revoke()
      #expect(
        try await TokenIntrospector(configuration(key), audience: nil).claims(of: token) == nil)
      let thief = AuthorizationModule(
        configuration: try configuration(ClientKey(generating: algorithm)))
      let error = await failure(.requestRefused) {
        try await thief.requestAccessTokenAsClient(scope: "read")
      }
      #expect(error?.message.contains("assertionAudience") == true)
    }
  }

  @Test func `an app registers itself for the code grant`() async throws {
    try await Glewlwyd.running { server in
      let registration = try await ClientRegistrar(issuer: server.issuer).register(
        ClientMetadata(redirectURIs: ["http://127.0.0.1/callback"], clientName: "An app"))
      // The server does not list the authentication method `none`, so the app gets a secret.
      #expect(registration.clientAuthentication == .basic && registration.clientSecret != nil)
      #expect(try registration.configuration().redirectURI?.string == "http://127.0.0.1/callback")
    }
  }
}

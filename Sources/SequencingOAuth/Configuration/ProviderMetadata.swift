import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The checked endpoints and abilities of an authorization server; only the SDK makes this value.
///
/// - SeeAlso: RFC 8414, section 2
public struct ProviderMetadata: Sendable, Hashable {
  /// The server's `issuer`, compared byte for byte; `nil` if the app gave endpoints without one.
  public let issuer: String?
  /// The server's `authorization_endpoint`; `nil` if it has none, so that no user can sign in.
  public let authorizationEndpoint: URL?
  /// The server's `token_endpoint`.
  public let tokenEndpoint: URL
  /// The address for refreshes: the token endpoint, unless the provider has another address for
  /// them.
  public let refreshEndpoint: URL
  /// The server's `revocation_endpoint`; `nil` if it has none.
  public let revocationEndpoint: URL?
  /// The server's `device_authorization_endpoint`; `nil` if users cannot sign in on another device.
  ///
  /// - SeeAlso: RFC 8628, section 4
  public let deviceAuthorizationEndpoint: URL?
  /// The server's `introspection_endpoint`; `nil` if it has none.
  ///
  /// - SeeAlso: RFC 7662, section 2
  public let introspectionEndpoint: URL?
  /// The server's `registration_endpoint`; `nil` if clients cannot register themselves.
  ///
  /// - SeeAlso: RFC 7591, section 3
  public let registrationEndpoint: URL?
  /// The server's `token_endpoint_auth_methods_supported`; `nil` if its metadata has no such list.
  public let clientAuthenticationMethods: [String]?
  /// The server's `revocation_endpoint_auth_methods_supported`; `nil` if its metadata has no such
  /// list.
  public let revocationAuthenticationMethods: [String]?
  /// The server's `introspection_endpoint_auth_methods_supported`; `nil` if its metadata has no such
  /// list.
  public let introspectionAuthenticationMethods: [String]?
  /// The server's `code_challenge_methods_supported`; `nil` if its metadata has no such list.
  public let codeChallengeMethods: [String]?
  /// Whether redirects carry `iss`: the server's `authorization_response_iss_parameter_supported`.
  public let sendsIssuerInResponse: Bool
  /// The server's `scopes_supported`; `nil` if its metadata has no such list.
  public let scopes: [String]?
  /// The server's `response_modes_supported`; `nil` if its metadata has no such list.
  public let responseModes: [String]?

  // MARK: OpenID Connect Discovery 1.0, section 3

  /// The address of the issuer's public keys, `jwks_uri`; `nil` if the server names none.
  public let jwksURI: URL?
  /// The server's `userinfo_endpoint`; `nil` if it has none.
  public let userInfoEndpoint: URL?
  /// The server's `end_session_endpoint`; `nil` if it has none.
  public let endSessionEndpoint: URL?
  /// The server's `id_token_signing_alg_values_supported`; `nil` if its metadata has no such list.
  public let idTokenAlgorithms: [String]?
  /// The server's `userinfo_signing_alg_values_supported`; `nil` if its metadata has no such list.
  public let userInfoAlgorithms: [String]?
  /// The server's `acr_values_supported`; `nil` if its metadata has no such list.
  public let authenticationContextClasses: [String]?
  /// The server's `claims_supported`; `nil` if its metadata has no such list.
  public let claims: [String]?
  /// The server's `prompt_values_supported`; `nil` if its metadata has no such list.
  public let prompts: [String]?
}

extension ProviderMetadata {
  init(_ endpoints: Provider.Endpoints) throws(SQOAuthError) {
    issuer = endpoints.issuer
    if let issuer { _ = try EndpointURL.check(issuer, name: "issuer") }
    authorizationEndpoint = try endpoints.authorization.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "authorization endpoint")
    }
    tokenEndpoint = try EndpointURL.check(endpoints.token, name: "token endpoint")
    refreshEndpoint =
      if let refresh = endpoints.refresh {
        try EndpointURL.check(refresh, name: "refresh endpoint")
      } else {
        tokenEndpoint
      }
    revocationEndpoint = try endpoints.revocation.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "revocation endpoint")
    }
    deviceAuthorizationEndpoint = try endpoints.deviceAuthorization.map {
      text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "device authorization endpoint")
    }
    introspectionEndpoint = try endpoints.introspection.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "introspection endpoint")
    }
    registrationEndpoint = nil
    clientAuthenticationMethods = nil
    revocationAuthenticationMethods = nil
    introspectionAuthenticationMethods = nil
    codeChallengeMethods = nil
    sendsIssuerInResponse = false
    scopes = nil
    responseModes = nil
    jwksURI = try endpoints.jwks.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "address of the keys")
    }
    userInfoEndpoint = try endpoints.userInfo.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "UserInfo endpoint")
    }
    endSessionEndpoint = try endpoints.endSession.map { text throws(SQOAuthError) in
      try EndpointURL.check(text, name: "end session endpoint")
    }
    idTokenAlgorithms = nil
    userInfoAlgorithms = nil
    authenticationContextClasses = nil
    claims = nil
    prompts = nil
  }

  /// Decodes and checks the metadata document that was fetched for an issuer.
  init(document: Data, issuer: String) throws(SQOAuthError) {
    let document = try JSONMessage.decode(
      Document.self, from: document, as: "metadata document")
    guard let named = document.issuer else {
      throw SQOAuthError(.invalidResponse, "the server's metadata names no issuer")
    }
    // RFC 8414, section 3.3: identical, without any normalisation.
    guard named.utf8.elementsEqual(issuer.utf8) else {
      throw SQOAuthError(
        .issuerMismatch,
        "the server's metadata names the issuer \"\(named.printable)\"; "
          + "if you trust that issuer, use exactly this text")
    }
    guard let token = document.tokenEndpoint else {
      throw SQOAuthError(.invalidResponse, "the server's metadata names no token endpoint")
    }
    self.issuer = issuer
    authorizationEndpoint = try document.authorizationEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "authorization endpoint", of: issuer)
    }
    tokenEndpoint = try Self.endpoint(token, "token endpoint", of: issuer)
    refreshEndpoint = tokenEndpoint
    revocationEndpoint = try document.revocationEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "revocation endpoint", of: issuer)
    }
    deviceAuthorizationEndpoint = try document.deviceAuthorizationEndpoint.map {
      text throws(SQOAuthError) in
      try Self.endpoint(text, "device authorization endpoint", of: issuer)
    }
    introspectionEndpoint = try document.introspectionEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "introspection endpoint", of: issuer)
    }
    registrationEndpoint = try document.registrationEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "registration endpoint", of: issuer)
    }
    clientAuthenticationMethods = document.clientAuthenticationMethods
    revocationAuthenticationMethods = document.revocationAuthenticationMethods
    introspectionAuthenticationMethods = document.introspectionAuthenticationMethods
    codeChallengeMethods = document.codeChallengeMethods
    sendsIssuerInResponse = document.sendsIssuerInResponse ?? false
    scopes = document.scopes
    responseModes = document.responseModes
    jwksURI = try document.jwksURI.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "address of the keys", of: issuer)
    }
    userInfoEndpoint = try document.userInfoEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "UserInfo endpoint", of: issuer)
    }
    endSessionEndpoint = try document.endSessionEndpoint.map { text throws(SQOAuthError) in
      try Self.endpoint(text, "end session endpoint", of: issuer)
    }
    idTokenAlgorithms = document.idTokenAlgorithms
    userInfoAlgorithms = document.userInfoAlgorithms
    authenticationContextClasses = document.authenticationContextClasses
    claims = document.claims
    prompts = document.prompts
  }

  /// Checks an endpoint that a document names: it must use https, unless the issuer is http itself.
  private static func endpoint(
    _ text: String, _ name: String, of issuer: String
  ) throws(SQOAuthError) -> URL {
    let url = try EndpointURL.check(text, name: name)
    guard url.scheme?.lowercased() == "https" || issuer.lowercased().hasPrefix("http:") else {
      throw SQOAuthError(
        .insecureEndpoint,
        "the \(name) in the server's metadata uses http, although the issuer uses https")
    }
    return url
  }

  /// The members of the document that are read; all others are ignored.
  private struct Document: Decodable {
    let issuer: String?
    let authorizationEndpoint: String?
    let tokenEndpoint: String?
    let revocationEndpoint: String?
    let deviceAuthorizationEndpoint: String?
    let introspectionEndpoint: String?
    let registrationEndpoint: String?
    let clientAuthenticationMethods: [String]?
    let revocationAuthenticationMethods: [String]?
    let introspectionAuthenticationMethods: [String]?
    let codeChallengeMethods: [String]?
    let sendsIssuerInResponse: Bool?
    let scopes: [String]?
    let responseModes: [String]?
    let jwksURI: String?
    let userInfoEndpoint: String?
    let endSessionEndpoint: String?
    let idTokenAlgorithms: [String]?
    let userInfoAlgorithms: [String]?
    let authenticationContextClasses: [String]?
    let claims: [String]?
    let prompts: [String]?

    enum CodingKeys: String, CodingKey {
      case issuer
      case authorizationEndpoint = "authorization_endpoint"
      case tokenEndpoint = "token_endpoint"
      case revocationEndpoint = "revocation_endpoint"
      case deviceAuthorizationEndpoint = "device_authorization_endpoint"
      case introspectionEndpoint = "introspection_endpoint"
      case registrationEndpoint = "registration_endpoint"
      case clientAuthenticationMethods = "token_endpoint_auth_methods_supported"
      case revocationAuthenticationMethods = "revocation_endpoint_auth_methods_supported"
      case introspectionAuthenticationMethods = "introspection_endpoint_auth_methods_supported"
      case codeChallengeMethods = "code_challenge_methods_supported"
      case sendsIssuerInResponse = "authorization_response_iss_parameter_supported"
      case scopes = "scopes_supported"
      case responseModes = "response_modes_supported"
      case jwksURI = "jwks_uri"
      case userInfoEndpoint = "userinfo_endpoint"
      case endSessionEndpoint = "end_session_endpoint"
      case idTokenAlgorithms = "id_token_signing_alg_values_supported"
      case userInfoAlgorithms = "userinfo_signing_alg_values_supported"
      case authenticationContextClasses = "acr_values_supported"
      case claims = "claims_supported"
      case prompts = "prompt_values_supported"
    }
  }
}

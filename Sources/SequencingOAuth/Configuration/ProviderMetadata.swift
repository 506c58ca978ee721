import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What is known of an authorization server, checked: only the SDK makes one.
///
/// - SeeAlso: RFC 8414, section 2
public struct ProviderMetadata: Sendable, Hashable {
  /// `issuer`, compared byte for byte; `nil` where endpoints were given by hand without one.
  public let issuer: String?
  /// `authorization_endpoint`; `nil` where nobody is signed in with a browser.
  public let authorizationEndpoint: URL?
  /// `token_endpoint`.
  public let tokenEndpoint: URL
  /// Where refreshes go: the token endpoint, unless the provider has another address.
  public let refreshEndpoint: URL
  /// `revocation_endpoint`.
  public let revocationEndpoint: URL?
  /// `token_endpoint_auth_methods_supported`; `nil` where the server did not say.
  public let clientAuthenticationMethods: [String]?
  /// `revocation_endpoint_auth_methods_supported`; `nil` where the server did not say.
  public let revocationAuthenticationMethods: [String]?
  /// `code_challenge_methods_supported`; `nil` where the server did not say.
  public let codeChallengeMethods: [String]?
  /// `authorization_response_iss_parameter_supported`.
  public let sendsIssuerInResponse: Bool
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
    clientAuthenticationMethods = nil
    revocationAuthenticationMethods = nil
    codeChallengeMethods = nil
    sendsIssuerInResponse = false
  }

  /// Reads a metadata document that was fetched for an issuer.
  init(document: Data, issuer: String) throws(SQOAuthError) {
    let document = try JSONMessage.decode(
      Document.self, from: document, as: "metadata document")
    guard let named = document.issuer else {
      throw SQOAuthError(.invalidResponse, "the metadata names no issuer")
    }
    // RFC 8414, section 3.3: identical, with no normalisation.
    guard named.utf8.elementsEqual(issuer.utf8) else {
      throw SQOAuthError(
        .issuerMismatch,
        "the metadata names the issuer \"\(named.printable)\"; "
          + "use exactly that string if it is the one you trust")
    }
    guard let token = document.tokenEndpoint else {
      throw SQOAuthError(.invalidResponse, "the metadata lacks the token endpoint")
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
    clientAuthenticationMethods = document.clientAuthenticationMethods
    revocationAuthenticationMethods = document.revocationAuthenticationMethods
    codeChallengeMethods = document.codeChallengeMethods
    sendsIssuerInResponse = document.sendsIssuerInResponse ?? false
  }

  /// An endpoint that a document names; a server elsewhere cannot send the client to this machine.
  private static func endpoint(
    _ text: String, _ name: String, of issuer: String
  ) throws(SQOAuthError) -> URL {
    let url = try EndpointURL.check(text, name: name)
    guard url.scheme?.lowercased() == "https" || issuer.lowercased().hasPrefix("http:") else {
      throw SQOAuthError(
        .insecureEndpoint, "the \(name) in the metadata uses http, though the issuer uses https")
    }
    return url
  }

  /// The members that are read; all others are ignored.
  private struct Document: Decodable {
    let issuer: String?
    let authorizationEndpoint: String?
    let tokenEndpoint: String?
    let revocationEndpoint: String?
    let clientAuthenticationMethods: [String]?
    let revocationAuthenticationMethods: [String]?
    let codeChallengeMethods: [String]?
    let sendsIssuerInResponse: Bool?

    enum CodingKeys: String, CodingKey {
      case issuer
      case authorizationEndpoint = "authorization_endpoint"
      case tokenEndpoint = "token_endpoint"
      case revocationEndpoint = "revocation_endpoint"
      case clientAuthenticationMethods = "token_endpoint_auth_methods_supported"
      case revocationAuthenticationMethods = "revocation_endpoint_auth_methods_supported"
      case codeChallengeMethods = "code_challenge_methods_supported"
      case sendsIssuerInResponse = "authorization_response_iss_parameter_supported"
    }
  }
}

import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An app's own parameters are added, and cannot override those of the protocol.
@Suite struct ExtraParametersTests {
  static func make(
    authorization: [String: String] = [:], token: [String: String] = [:],
    provider: Provider = .sequencing
  ) throws(SQOAuthError) -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "id", redirectURI: "http://127.0.0.1/cb", provider: provider,
      authorizationParameters: authorization, tokenParameters: token)
  }

  @Test(arguments: [
    "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
    "code_challenge_method", "nonce", "response_mode", "request", "request_uri", "client_secret",
  ])
  func `a protocol parameter of the authorization request cannot be set`(name: String) {
    let error = failure(.invalidConfiguration) { try Self.make(authorization: [name: "x"]) }
    #expect(error?.message.contains(name) == true)
    failure(.invalidConfiguration) {
      var provider = Provider.google
      provider.authorizationParameters = [name: "x"]
      return try Self.make(provider: provider)
    }
  }

  @Test(arguments: [
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier",
    "refresh_token", "scope", "username", "password", "client_assertion", "client_assertion_type",
  ])
  func `a protocol parameter of the token request cannot be set`(name: String) {
    failure(.invalidConfiguration) { try Self.make(token: [name: "x"]) }
    failure(.invalidConfiguration) {
      var provider = Provider.google
      provider.tokenParameters = [name: "x"]
      return try Self.make(provider: provider)
    }
  }

  @Test func `an empty parameter name is rejected`() {
    failure(.invalidConfiguration) { try Self.make(authorization: ["": "x"]) }
    failure(.invalidConfiguration) { try Self.make(token: ["": "x"]) }
  }

  @Test func `extra parameters of the app and the provider are sorted by name`() throws {
    let configuration = try Self.make(
      authorization: ["prompt": "consent", "acr_values": "2", "audience": "https://api"],
      token: ["resource": "https://api", "audience": "b"])
    // The provider's preset adds `mobile`.
    #expect(
      configuration.authorizationParameters == [
        .init("acr_values", "2"), .init("audience", "https://api"), .init("mobile", "1"),
        .init("prompt", "consent"),
      ])
    #expect(
      configuration.tokenParameters == [.init("audience", "b"), .init("resource", "https://api")])
  }

  @Test func `the app's value takes precedence over the provider's`() throws {
    let configuration = try Self.make(authorization: ["mobile": "0"])
    #expect(configuration.authorizationParameters == [.init("mobile", "0")])
  }
}

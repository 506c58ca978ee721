import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How a registration response is read, without a server.
@Suite struct RegistrationResponseTests {
  private func registration(
    _ members: [String: JSONValue], from address: String = "https://id.example/register",
    after earlier: ClientRegistration? = nil
  ) throws(SQOAuthError) -> ClientRegistration {
    try RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0),
      address: URL(string: address)
    ).registration(in: members.merging(["client_id": "c"]) { $1 }, after: earlier)
  }

  private static let managed: JSONValue = "https://id.example/clients/c"

  /// The server chooses the management address, and could make the client send requests into the
  /// client's own network.
  @Test(
    arguments: [
      "https://other.example/c", "https://id.example:8443/c", "http://id.example/c",
      "http://127.0.0.1:8080/c", "https://id.example@other.example/c", "//other.example/c",
      "https://sub.id.example/c", "nonsense:", "http://[", 5, [:], .null, "",
    ] as [JSONValue])
  func `a management address that is invalid or at another server is not used`(
    uri: JSONValue
  ) throws {
    let registration = try registration(
      ["registration_client_uri": uri, "registration_access_token": "t"])
    #expect(registration.clientID == "c" && !registration.isManageable)
    let earlier = try self.registration(
      ["registration_client_uri": Self.managed, "registration_access_token": "t"])
    let later = try self.registration(
      ["registration_client_uri": uri, "registration_access_token": "new"],
      from: "https://id.example/clients/c", after: earlier)
    #expect(later.management?.uri == earlier.management?.uri)
    #expect(later.management?.accessToken == "new", "the old token may have ended")
  }

  @Test(arguments: [
    ("https://id.example/clients/c", "https://id.example/clients/c"),
    ("https://ID.example:443/clients/c", "https://ID.example:443/clients/c"),
    ("/register/1", "https://id.example/register/1"),
    ("register/1", "https://id.example/register/1"),
    ("?client_id=c", "https://id.example/register?client_id=c"),
  ])
  func `a management address may be relative`(text: String, uri: String) throws {
    let registration = try registration(
      ["registration_client_uri": .string(text), "registration_access_token": "t"])
    #expect(registration.management?.uri.absoluteString == uri)
  }

  @Test func `a registration at a loopback address is managed there`() throws {
    let registration = try registration(
      [
        "registration_client_uri": "http://127.0.0.1:8080/clients/c",
        "registration_access_token": "t",
      ], from: "http://127.0.0.1:8080/register")
    #expect(registration.isManageable)
  }

  @Test(arguments: [("0", nil), ("1900000000", 1_900_000_000), ("", nil)] as [(String, Double?)])
  func `the expiration of a secret may be a text of digits`(text: String, seconds: Double?) throws {
    let registration = try registration(
      ["client_secret": "s", "client_secret_expires_at": .string(text)])
    #expect(registration.clientSecretExpirationDate?.timeIntervalSince1970 == seconds)
  }

  @Test(arguments: ["never", "-1", "1e3", " 0", "0x0", "99999999999999999999"])
  func `an invalid expiration of a secret is rejected`(text: String) {
    failure(.invalidResponse) {
      try registration(["client_secret": "s", "client_secret_expires_at": .string(text)])
    }
  }

  @Test(
    arguments: [
      ("client_secret_basic", "client_secret_jwt", "s"),
      ("client_secret_post", "client_secret_basic", "s"),
      ("client_secret_jwt", "client_secret_post", "s"), ("none", "client_secret_jwt", "s"),
      ("none", "none", "s"), ("client_secret_basic", "none", nil),
      ("client_secret_jwt", "private_key_jwt", nil),
    ] as [(String, String, String?)])
  func `without a new secret, the old secret stays if the method is unchanged or needs a secret`(
    method: String, next: String, secret: String?
  ) throws {
    let earlier = try registration(
      ["client_secret": "s", "token_endpoint_auth_method": .string(method)])
    let later = try registration(["token_endpoint_auth_method": .string(next)], after: earlier)
    #expect(later.clientSecret == secret && later.clientAuthentication.rawValue == next)
  }

  // MARK: How the client authenticates

  typealias Choice = (
    supported: [String]?, asked: ClientAuthentication?, grants: [String],
    chosen: ClientAuthentication
  )

  static let code = ["authorization_code", "refresh_token"]
  static let choices: [Choice] = [
    (nil, nil, code, .basic), (["none"], nil, code, .publicClient),
    (["client_secret_basic", "client_secret_post", "none"], nil, code, .publicClient),
    // Some servers list Basic and cannot read it, so the first listed method counts.
    (["client_secret_post", "client_secret_basic"], nil, code, .post),
    (["client_secret_basic", "client_secret_post"], nil, code, .basic),
    (["client_secret_post", "private_key_jwt"], nil, code, .post),
    (["tls_client_auth"], nil, code, .publicClient), ([], nil, code, .publicClient),
    (["client_secret_post"], .publicClient, code, .publicClient),
    (["none"], .post, code, .post), (nil, .publicClient, code, .publicClient),
    // A client with the client credentials grant must authenticate.
    (["none", "client_secret_post"], nil, ["client_credentials"], .post),
    (["none"], nil, ["client_credentials"], .basic),
  ]

  @Test(arguments: choices.indices)
  func `the server's list and the grants decide the authentication method unless the app sets one`(
    index: Int
  ) throws {
    let row = Self.choices[index]
    var metadata = ClientMetadata(
      redirectURIs: ["http://127.0.0.1/cb"], clientAuthentication: row.asked,
      grantTypes: row.grants)
    #expect(
      metadata.choosingAuthentication(supported: row.supported).clientAuthentication == row.chosen)
    metadata.keys = [try ClientKey(generating: .es256)]
    let keyed = metadata.choosingAuthentication(supported: ["none", "private_key_jwt"])
    #expect(keyed.clientAuthentication == row.asked ?? .privateKeyJWT)
  }

  @Test(
    arguments: [
      ("a b", "a b"), (["a", "b"], "a b"), (5, nil), (["a", 1], nil),
    ] as [(JSONValue, String?)])
  func `the registered scope is one text or a list of texts`(value: JSONValue, scope: String?)
    throws
  {
    let response = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0))
    let earlier = try response.registration(in: ["client_id": "c", "scope": "old"])
    let registration = try response.registration(
      in: ["client_id": "c", "scope": value], after: earlier)
    #expect(registration.scope == scope)
    #expect(try response.registration(in: ["client_id": "c"], after: earlier).scope == "old")
  }

  @Test(arguments: TokenRefusalTests.forms, [400, 403, 500])
  func `the error contains the server's description`(body: String, status: Int) {
    let error = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0)
    ).failure(Answer.http(body, status: status))
    #expect(error.message.contains("and said: the words"), "\(error.message)")
    #expect(error.response == nil && error.status == status)
  }

  private static let unused = [
    "client_secret", "client_secret_expires_at", "scope", "token_endpoint_auth_method",
    "redirect_uris", "registration_client_uri", "registration_access_token", "jwks", "logo_uri",
  ]

  /// Servers that write out their whole model send `null` or an empty text for missing members.
  @Test(arguments: [.null, ""] as [JSONValue])
  func `a null or empty member counts as missing`(value: JSONValue)
    throws
  {
    let members = Dictionary(uniqueKeysWithValues: Self.unused.map { ($0, value) })
    let response = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0))
    let registration = try response.registration(in: members.merging(["client_id": "c"]) { $1 })
    #expect(registration.clientID == "c" && registration.clientSecret == nil)
    #expect(registration.clientSecretExpirationDate == nil && registration.scope == nil)
    #expect(registration.clientAuthentication == .publicClient && !registration.isManageable)
    #expect(registration.redirectURIs == [])
    failure(.invalidResponse) { try response.registration(in: ["client_id": value]) }
  }
}

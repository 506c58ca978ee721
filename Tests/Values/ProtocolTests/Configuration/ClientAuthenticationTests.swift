import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How a client chooses its authentication: one method, without trying several.
@Suite struct ClientAuthenticationTests {
  typealias Row = (
    explicit: ClientAuthentication?, providers: ClientAuthentication?, hasSecret: Bool,
    supported: [String]?, chosen: ClientAuthentication
  )

  static let table: [Row] = [
    // The app's choice takes precedence over the provider's and the server's.
    (.basic, .post, true, ["client_secret_post"], .basic),
    (.post, .basic, true, ["client_secret_basic"], .post),
    (ClientAuthentication.publicClient, .basic, true, ["client_secret_basic"], .publicClient),
    (
      ClientAuthentication.publicClient, nil, false, ["client_secret_basic", "client_secret_post"],
      .publicClient
    ),
    // The provider's choice comes next.
    (nil, .post, true, ["client_secret_basic"], .post),
    (nil, .basic, true, ["client_secret_post"], .basic),
    // A client without a secret is a public one, whatever the provider and the server prefer.
    (nil, nil, false, nil, .publicClient),
    (nil, nil, false, ["client_secret_basic"], .publicClient),
    (nil, nil, false, ["none"], .publicClient),
    (nil, .post, false, nil, .publicClient),
    (nil, .basic, false, nil, .publicClient),
    // A client with a secret uses Basic, unless the server lists only the request body.
    (nil, nil, true, nil, .basic),
    (nil, nil, true, ["client_secret_basic"], .basic),
    (nil, nil, true, ["client_secret_post", "client_secret_basic"], .basic),
    (nil, nil, true, ["client_secret_post"], .post),
    (nil, nil, true, ["private_key_jwt", "client_secret_post"], .post),
  ]

  @Test(arguments: table.indices)
  func `app, provider, secret and server determine the method, in this order`(
    index: Int
  ) throws {
    let row = Self.table[index]
    #expect(
      try ClientAuthentication.chosen(
        row.explicit, providers: row.providers, hasSecret: row.hasSecret, supported: row.supported)
        == row.chosen)
  }

  /// If a server accepts no secret, sending the secret only reveals it.
  @Test(arguments: [["private_key_jwt"], ["tls_client_auth"], ["none"], []])
  func `for a server that accepts no secret, no method is chosen and an error is thrown`(
    supported: [String]
  ) {
    failure(.invalidConfiguration) {
      try ClientAuthentication.chosen(nil, hasSecret: true, supported: supported)
    }
  }

  @Test(arguments: ["private_key_jwt", "client_secret_jwt", "tls_client", "", "BASIC"])
  func `a method that is unknown or has no suitable key or secret is rejected by the configuration`(
    name: String
  ) {
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "id", clientSecret: "s", redirectURI: "http://127.0.0.1/cb",
        provider: .google, clientAuthentication: .init(rawValue: name))
    }
  }

  @Test(arguments: [("a:b", "s"), ("a\nb", "s"), ("a", "s\u{7F}"), ("a", "\t")])
  func `unescaped Basic is rejected for credentials that it cannot carry`(
    id: String, secret: String
  ) throws {
    var provider = Provider.endpoints(token: "https://id.example/token")
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: id, clientSecret: secret, provider: provider,
        clientAuthentication: .basicUnescaped)
    }
    provider.clientAuthentication = .basicUnescaped
    failure(.invalidConfiguration) {
      try ClientConfiguration(clientID: id, clientSecret: secret, provider: provider)
    }
    _ = try ClientConfiguration(
      clientID: id, clientSecret: secret, provider: provider, clientAuthentication: .basic)
    _ = try ClientConfiguration(clientID: id, provider: provider)
    _ = try ClientConfiguration(clientID: "a", clientSecret: "s:\u{FC} /", provider: provider)
  }

  @Test(arguments: [ClientAuthentication.basic, .post, .basicUnescaped])
  func `a method that needs a secret is rejected without one`(method: ClientAuthentication) {
    // Basic sends an empty secret too.
    for secret in method == .post ? [nil, ""] : [nil] {
      failure(.invalidConfiguration) {
        try ClientConfiguration(
          clientID: "id", clientSecret: secret, redirectURI: "http://127.0.0.1/cb",
          provider: .google, clientAuthentication: method)
      }
    }
  }
}

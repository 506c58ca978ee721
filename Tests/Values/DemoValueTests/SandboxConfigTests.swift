import Foundation
import OAuthSandbox
import TestSupport
import Testing

@testable import sq_demo

/// The file of settings of `sq-demo sandbox`.
@Suite struct `The configuration file of the sandbox` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func sandbox(_ text: String, _ words: [String] = []) throws(Failure) -> SandboxOptions {
    do {
      try Data(text.utf8).write(to: URL(filePath: folder.file("sandbox.json")))
    } catch {
      throw .usage("\(error)")
    }
    let words = ["--config", folder.file("sandbox.json")] + words
    return try Sandbox(Arguments(words, options: Sandbox.options)).options()
  }

  @Test func `the settings of the printed example are applied`() throws {
    let options = try sandbox(SandboxConfig.example)
    #expect(options.port == 8989)
    #expect(options.clients.map(\.id) == ["shop-app", "shop-web", "shop-service"])
    let (app, web) = (options.clients[0], options.clients[1])
    #expect(app.name == "The shop's app" && app.secret == nil && app.authentication == [.none])
    #expect(app.redirectURIs == ["http://127.0.0.1/callback", "com.example.shop:/callback"])
    #expect(app.postLogoutRedirectURIs == ["com.example.shop:/signed-out"])
    #expect(app.scopes?.contains("orders.read") == true && app.scopes?.contains("files") == false)
    #expect(web.secret == "shop-web-secret" && web.authentication == [.basic])
    #expect(web.backchannelLogoutURI == "http://127.0.0.1:8080/backchannel-logout")
    #expect(web.grantTypes?.contains("client_credentials") == true)
    #expect(options.clients[2].authentication == [.privateKeyJWT])
    #expect(options.clients[2].keys.count == 1)
    let carol = try #require(options.users.first)
    #expect(options.users.count == 1 && carol.password == "carol-password")
    #expect(carol.subject == "user-3" && carol.displayName == "Carol Danvers")
    #expect(carol.profile.isEmailVerified == true && carol.profile.preferredUserName == "carol")
    #expect(carol.profile.address?["locality"] == .string("Boston"))
    #expect(carol.profile.others == [.init("department", .string("genomics"))])
    #expect(options.scopes.last == SandboxScope("orders.read", "See your orders"))
    #expect(options.scopes.contains { $0.name == "openid" })
    #expect(options.accessTokenLifetime == .seconds(300) && options.codeLifetime == .seconds(60))
    #expect(options.refreshTokenTimeout == .seconds(86_400))
    #expect(options.authorizationLifetime == .seconds(2_592_000))
    #expect(options.deviceInterval == .seconds(1))
    #expect(options.audiences == ["https://api.shop.example"])
    #expect(options.accessTokenFormat == .jwt(.rs256))
  }

  @Test func `an empty object keeps the default clients, users and access token lifetime`() throws {
    let (options, plain) = (try sandbox("{}"), SandboxOptions())
    #expect(options.clients == plain.clients && options.users == plain.users)
    #expect(options.accessTokenLifetime == plain.accessTokenLifetime)
  }

  @Test func `command-line options override the file`() throws {
    let file = #"{"port": 8989, "lifetimes": {"access_token": 300}}"#
    let options = try sandbox(file, ["--port", "0", "--lifetime", "77", "--jwt"])
    #expect(options.port == 0 && options.accessTokenLifetime == .seconds(77))
    #expect(options.accessTokenFormat == .jwt(.rs256))
  }

  /// Files with a mistake, and what the error says.
  private static let mistakes = [
    ("{\n  \"port\": 1,\n  oops\n}", "line 3 is not JSON at byte 3 of the line"),
    ("[]", "the file is a list and not an object"),
    (#"{"port": 1, "port": 2}"#, "an object has two members named port"),
    (#"{"client": []}"#, "client is unknown; did you mean clients?"),
    (#"{"port": "8989"}"#, "port is a text and not a whole number"),
    (#"{"port": 70000}"#, "port is not a whole number from 0 to 65535"),
    (#"{"clients": {}}"#, "clients is an object and not a list of objects"),
    (#"{"clients": []}"#, "clients is empty"),
    (#"{"clients": [7]}"#, "clients[0] is a number and not an object"),
    (#"{"clients": [{"client_id": "a"}, {}]}"#, "clients[1].client_id is missing"),
    (
      #"{"clients": [{"client_id": "a", "redirect_uri": ["b:/"]}]}"#,
      "clients[0].redirect_uri is unknown; did you mean redirect_uris?"
    ),
    (
      #"{"clients": [{"client_id": "a", "redirect_uris": "b:/"}]}"#,
      "clients[0].redirect_uris is a text and not a list of texts"
    ),
    (
      #"{"clients": [{"client_id": "a", "redirect_uris": ["b:/", null]}]}"#,
      "clients[0].redirect_uris[1] is null and not a text"
    ),
    (
      #"{"clients": [{"client_id": "a", "redirect_uris": ["/callback"]}]}"#,
      "clients[0].redirect_uris[0] must be an absolute URI"
    ),
    (
      #"{"clients": [{"client_id": "a", "backchannel_logout_uri": "https://a.example/"}]}"#,
      "clients[0].backchannel_logout_uri must be an http address of this machine"
    ),
    (
      #"{"clients": [{"client_id": "a", "scope": "openid profil"}]}"#,
      "clients[0].scope has \"profil\", which is not a scope of the sandbox; did you mean profile?"
    ),
    (
      #"{"clients": [{"client_id": "a", "token_endpoint_auth_method": "client_secret_base"}]}"#,
      "did you mean client_secret_basic?"
    ),
    (
      #"{"clients": [{"client_id": "a", "token_endpoint_auth_method": "client_secret_post"}]}"#,
      "clients[0].token_endpoint_auth_method needs a client_secret"
    ),
    (
      #"{"clients": [{"client_id": "a"}, {"client_id": "a"}]}"#,
      "clients[1].client_id is the identifier of an earlier client"
    ),
    (
      #"{"clients": [{"client_id": "a", "redirect_uris": ["http://127.0.0.1/cb#x"]}]}"#,
      "clients[0].redirect_uris[0] must be an absolute URI without a fragment"
    ),
    (
      #"{"clients": [{"client_id": "a", "grant_types": ["refresh_token", "authorization_cod"]}]}"#,
      "did you mean authorization_code?"
    ),
    (#"{"clients": [{"client_id": "a", "grant_types": []}]}"#, "clients[0].grant_types is empty"),
    (
      #"{"clients": [{"client_id": "a", "grant_types": ["client_credentials"]}]}"#,
      "clients[0].grant_types has client_credentials, which needs a client_secret or jwks"
    ),
    (
      #"{"clients": [{"client_id": "a", "redirect_uris": [], "grant_types": ["authorization_code"]}]}"#,
      "clients[0].redirect_uris is empty"
    ),
    (
      #"{"clients": [{"client_id": "a", "jwks": {"keys": [{"kty": "EC", "crv": "P-256"}]}}]}"#,
      "clients[0].jwks.keys[0] is not a complete public key"
    ),
    (
      #"{"clients": [{"client_id": "a", "client_secret": "s", "token_endpoint_auth_method": "none"}]}"#,
      "clients[0].token_endpoint_auth_method is none"
    ),
    (#"{"resources": ["orders"]}"#, "resources[0] must be an absolute URI"),
    (#"{"resources": ["https://a.example/#x"]}"#, "resources[0] must be an absolute URI"),
    (
      #"{"users": [{"user_name": "a", "password": "b", "sub": "1"}, {"user_name": "c", "password": "d", "sub": "1"}]}"#,
      "users[1].sub is that of an earlier user"
    ),
    (
      #"{"users": [{"user_name": "a", "password": "b", "claims": {"exp": 1}}]}"#,
      "users[0].claims.exp is a claim that the sandbox makes itself"
    ),
    (#"{"users": [{"user_name": "a"}]}"#, "users[0].password is missing"),
    (
      #"{"users": [{"user_name": "a", "password": "b", "claims": {"email_verified": "yes"}}]}"#,
      "users[0].claims.email_verified is a text and not true or false"
    ),
    (#"{"scopes": [{"scope": "a b"}]}"#, "scopes[0].scope has a space or another character that"),
    (#"{"lifetimes": {"access_tokens": 1}}"#, "lifetimes.access_tokens is unknown"),
    (#"{"lifetimes": {"code": 0}}"#, "lifetimes.code is not a whole number from 1"),
    (#"{"access_token_format": "jwts"}"#, "is not one of opaque, jwt; did you mean jwt?"),
  ]

  @Test(arguments: mistakes)
  func `a mistake in the file is named with its place`(text: String, message: String) throws {
    let error = #expect(throws: Failure.self) { try sandbox(text) }
    #expect(error?.status == .wrongUsage)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("sandbox.json") == true)
    #expect(error?.hint?.contains("--config-example") == true)
  }

  @Test func `the error for a file that is not UTF-8 names the place and the encoding`() throws {
    let error = #expect(throws: Failure.self) {
      try SandboxConfig(
        text: Data(#"{"users": [{"user_name": ""#.utf8) + [0xE9] + Data("\"}]}".utf8))
    }
    #expect(error?.message.contains("line 1 is not JSON at byte 27") == true)
    #expect(error?.message.hasSuffix("not written in UTF-8") == true)
  }

  @Test func `the sandbox and its gRPC server cannot use the same port`() throws {
    let error = #expect(throws: Failure.self) {
      try sandbox("{}", ["--port", "19400", "--rpc-port", "19400"])
    }
    #expect(error?.message.contains("--rpc-port 19400 is the sandbox's own port") == true)
  }

  @Test func `the error for a missing file says that the file does not exist`() throws {
    let error = #expect(throws: Failure.self) {
      try Sandbox(Arguments(["--config", folder.file("no")], options: Sandbox.options))
    }
    #expect(error?.message.contains("No such file") == true)
  }

  @Test func `the error for a client secret of a wrong type does not show the secret`() throws {
    let error = #expect(throws: Failure.self) {
      try sandbox(
        #"{"clients": [{"client_id": "a", "client_secret": ["hush-hush"]}], "users": "hush-hush"}"#)
    }
    #expect(error?.message.contains("hush-hush") == false)
  }
}

// A service that registers itself with its own key, checks the access tokens of its callers, and
// exchanges each of them for a token of the same user that the next service accepts.
//
//   Scripts/demo sandbox --port 8989 --jwt                in another terminal: a server for the tokens
//   Scripts/demo login --issuer http://127.0.0.1:8989     in another terminal: the caller
//   Scripts/demo token | swift run --package-path Demo/Examples service
//
// Each line of standard input is a caller's token, which a real service would get in a request. The
// environment variable ISSUER names another server, which must let clients register themselves.
// AUDIENCE is the audience of the callers' tokens. By default it is ISSUER, because the sandbox
// issues the callers' tokens for itself.

import Foundation
import SequencingOAuth
import SequencingOAuthBackend

let environment = ProcessInfo.processInfo.environment
let issuer = environment["ISSUER"] ?? "http://127.0.0.1:8989"
let audience = environment["AUDIENCE"] ?? issuer
let nextService = "https://invoices.example.com"

/// Returns the user of a caller's token, or `nil` if the token is not valid for this service.
func subject(of token: String, _ callers: TokenIntrospector) async throws -> String? {
  do {
    return try await callers.claims(of: token)?.subject
  } catch SQOAuthError.Code.accessTokenInvalid {
    return nil
  } catch {
    throw error
  }
}

do {
  // The private key never leaves this machine: the server gets the public key.
  let key = try await KeyManager.makeClientKeyFile(service: "com.example.orders")
  var description = ClientMetadata(
    redirectURIs: [], clientAuthentication: .privateKeyJWT,
    grantTypes: ["client_credentials", TokenExchange.grantType], clientName: "Orders")
  description.keys = [key]
  let registration = try await ClientRegistrar(issuer: issuer).registration(
    of: description,
    in: try FileRegistrationStore(
      service: "com.example.orders", key: .file(service: "com.example.orders")))
  let client = try registration.configuration(clientKey: key)

  let service = AuthorizationModule(configuration: client)
  let callers = TokenIntrospector(client, audience: audience)
  // The next service would be another program. Its check is here only to show its token.
  let next = try AccessTokenValidator(provider: .issuer(issuer), audience: nextService)
  while let token = readLine() {
    guard let user = try await subject(of: token, callers) else {
      print("Refused: the caller's token is not valid here, or has no user.")
      continue
    }
    let exchanged = try await service.exchangeToken(
      TokenExchange(subject: .accessToken(token), audiences: [nextService]))
    let claims = try await next.validate(exchanged.text)
    print("\(user): a token for \(claims.audience[0]), where \(claims.subject ?? "?") is the user")
  }
} catch {
  print("Failed: \(error)")
  exit(1)
}

import OAuthSandbox

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What there is to know of a sandbox: its addresses, its clients and its users.
struct SandboxReport: Encodable {
  private struct Client: Encodable {
    let clientId: String
    let clientSecret: String?
  }

  private struct User: Encodable {
    let userName: String
    let password: String
  }

  private let issuer: String
  private let authorizationEndpoint: String
  private let tokenEndpoint: String
  private let revocationEndpoint: String
  private let clients: [Client]
  private let users: [User]

  init(_ server: SandboxServer) {
    issuer = server.issuer.absoluteString
    authorizationEndpoint = server.authorizationEndpoint.absoluteString
    tokenEndpoint = server.tokenEndpoint.absoluteString
    revocationEndpoint = server.revocationEndpoint.absoluteString
    clients = server.clients.map { Client(clientId: $0.id, clientSecret: $0.secret) }
    users = server.users.map { User(userName: $0.name, password: $0.password) }
  }

  /// The description in one line, for a program.
  func json() throws(Failure) -> String { try oneLineOfJSON(self) }

  /// The description for a person, with a command to copy.
  var text: String {
    let clientLines = clients.map { client in
      "  client     \(client.clientId)"
        + (client.clientSecret.map { ", with the secret \($0)" } ?? ", a public client")
    }
    let userLines = users.map { "  user       \($0.userName), with the password \($0.password)" }
    return """
      The sandbox listens. Ctrl-C ends it.

        issuer     \(issuer)
        authorize  \(authorizationEndpoint)
        token      \(tokenEndpoint)
        revoke     \(revocationEndpoint)
      \(clientLines.joined(separator: "\n"))
      \(userLines.joined(separator: "\n"))

      Sign in there, in your browser or as the sandbox's visitor with --browser sandbox:

        sq-demo login --issuer \(issuer) --client-id \(clients.first?.clientId ?? "ID")
      """
  }
}

// Several accounts, each with a name. Each signs in once and is kept in an encrypted file.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server to sign in at
//   swift run --package-path Demo/Examples accounts home work
//   swift run --package-path Demo/Examples accounts       lists the stored accounts
//
// Sign in as alice, with alice-password, then with "Use another account" as bob, with bob-password.
// The environment variables ISSUER, CLIENT_ID and API name another server, the app's client there,
// and an address that returns the user's name, such as the server's UserInfo endpoint.

import Foundation
import SequencingOAuth

struct Me: Decodable {
  let name: String
}

extension String {
  /// The text without characters that control a terminal or hide text; a server may send any.
  var onScreen: String {
    String(
      unicodeScalars.filter { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
      })
  }
}

let settings = ProcessInfo.processInfo.environment
let issuer = settings["ISSUER"] ?? "http://127.0.0.1:8989"
let api = settings["API"] ?? "\(issuer)/api/me"

do {
  var client = try ClientConfiguration(
    clientID: settings["CLIENT_ID"] ?? "sandbox-app", redirectURI: "http://127.0.0.1/callback",
    scope: "profile", provider: .issuer(issuer),
    // The server lets the user choose an account, even if one is signed in there.
    authorizationParameters: ["prompt": "select_account"])
  // The accounts' tokens go to this server only.
  client.resourceOrigins = [try ResourceOrigin(api)]
  let manager = AccountManager(store: try EncryptedFileTokenStore(service: "com.example.accounts"))

  do {
    for name in CommandLine.arguments.dropFirst() {
      let account = try await manager.account(client, id: name)
      // The browser opens only if this account has no valid token.
      try await account.requestAccess()
      let answer = try await account.send(WebRequest(url: api))
      let me = try JSONDecoder().decode(Me.self, from: answer.body)
      print("\(name): \(me.name.onScreen)")
    }
    let names = try await manager.accounts().map(\.id)
    print("Accounts: \(names.joined(separator: ", "))")
  } catch {
    // A refresh may be in progress even if a request has failed.
    try? await manager.flush()
    throw error
  }
  // If a refresh is in progress, its token must be stored before the program ends.
  try await manager.flush()
} catch {
  print("Failed: \("\(error)".onScreen)")
  exit(1)
}

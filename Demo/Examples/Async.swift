// The sign-in and a request with `async` calls. The second run opens no browser.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server to sign in at
//   swift run --package-path Demo/Examples async          sign in as alice, with alice-password
//
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

let oauth = SQOAuth()
do {
  oauth.register(
    try ClientConfiguration(
      clientID: settings["CLIENT_ID"] ?? "sandbox-app", redirectURI: "http://127.0.0.1/callback",
      scope: "profile", provider: .issuer(issuer)))
  // The tokens are kept in an encrypted file, so the user is still signed in after a restart.
  try oauth.keepTokens(as: "com.example.async")
  // The browser opens only if there is no valid token.
  let token = try await oauth.requestAccess()
  print("Signed in, for: \(token.scopes.joined(separator: ", ").onScreen)")

  // The request carries the token, which is refreshed first if it has expired.
  let answer = try await oauth.send(WebRequest(url: api))
  let me = try JSONDecoder().decode(Me.self, from: answer.body)
  print("Hello, \(me.name.onScreen).")
  // If a refresh is in progress, its token must be stored before the program ends.
  try await oauth.flush()
} catch {
  print("Failed: \("\(error)".onScreen)")
  // A refresh may be in progress even if the request has failed.
  try? await oauth.flush()
  exit(1)
}

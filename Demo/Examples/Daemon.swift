// A program without a user, which calls an API with client credentials.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server for the token
//   CLIENT_SECRET=sandbox-secret swift run --package-path Demo/Examples daemon
//
// The environment variables ISSUER, CLIENT_ID and API name another server, the daemon's client
// there, and the address to call. The secret is never an argument, because every user of the
// machine can see arguments.

import Foundation
import SequencingOAuth

let settings = ProcessInfo.processInfo.environment
let issuer = settings["ISSUER"] ?? "http://127.0.0.1:8989"
let api = settings["API"] ?? "\(issuer)/api/me"
guard let secret = settings["CLIENT_SECRET"] else {
  print("Put the client's secret into the environment variable CLIENT_SECRET.")
  exit(2)
}

do {
  var client = try ClientConfiguration(
    clientID: settings["CLIENT_ID"] ?? "sandbox-service", clientSecret: secret, scope: "profile",
    provider: .issuer(issuer))
  client.usesClientCredentials = true
  // The token stays in memory, because a daemon can get a new one at any time.
  let account = AuthorizationModule(configuration: client)
  // A real daemon runs until it is stopped.
  for round in 1...3 {
    // The first request gets a token, which the others use until it expires.
    let answer = try await account.send(WebRequest(url: api))
    print("Round \(round): status \(answer.status), \(answer.body.count) bytes")
    try await Task.sleep(for: .milliseconds(500))
  }
} catch {
  print("Failed: \(error)")
  exit(1)
}

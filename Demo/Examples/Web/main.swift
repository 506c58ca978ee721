// A web application whose users sign in at a provider, and which any number of processes can serve.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server to sign in at
//   CLIENT_SECRET=sandbox-secret swift run --package-path Demo/Examples web
//
// Open http://127.0.0.1:8080 and sign in as alice, with alice-password. To start a second process
// on the same port, run the same command in one more terminal.
//
// Read WebApp.swift; the other files stand in for your framework. The environment variables ISSUER,
// CLIENT_ID, PORT and ADDRESS name another server, the application's client there, the port, and
// the address at which browsers reach the application.

import Foundation
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthSQLite

let settings = ProcessInfo.processInfo.environment
let port = settings["PORT"].flatMap(UInt16.init) ?? 8080
let address = settings["ADDRESS"] ?? "http://127.0.0.1:\(port)"
guard let secret = settings["CLIENT_SECRET"] else {
  print("Put the client's secret into the environment variable CLIENT_SECRET.")
  exit(2)
}

do {
  let issuer = settings["ISSUER"] ?? "http://127.0.0.1:8989"
  var client = try ClientConfiguration(
    clientID: settings["CLIENT_ID"] ?? "sandbox-service", clientSecret: secret,
    redirectURI: "\(address)/callback", scope: "openid profile", provider: .issuer(issuer))
  // The servers that may get the users' tokens; list your APIs here.
  client.resourceOrigins = [try ResourceOrigin(issuer)]
  // The store is in the user's state folder, with its key beside it, and both processes use it.
  let store = try SQLiteTokenStore(
    service: "com.example.web", key: .file(service: "com.example.web"))
  let folder = URL(filePath: store.path).deletingLastPathComponent().path
  let app = WebApp(
    address: address, client: client, accounts: AccountManager(store: store),
    sealer: try WebSignInSealer(key: .file("\(folder)/web.key")))
  let server = try SmallServer(
    port: port, sessions: Sessions(folder: "\(folder)/sessions"),
    cookies: Cookies(address: address))
  SmallServer.log("Serving \(address) from process \(getpid())")
  server.run { request, session in await app.answer(request, &session) }
} catch {
  print("Failed: \(error)")
  exit(1)
}

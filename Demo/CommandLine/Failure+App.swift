import SequencingOAuth

extension Failure {
  /// Phrases of SDK errors that advise a change of an app's source, each with advice for the user.
  static let app: [(advice: String, hint: String)] = [
    (
      "the identity has no documentAddress",
      "give the address of a document about the client with \(Option.clientID.name) https://..."
    ),
    (
      "choose a different accountID", "give the account another name with \(Option.account.name) ID"
    ),
    ("keep the account in a TokenStore", "sign in again with 'sq-demo login \(Option.dpop.name)'"),
    (
      "(tokenBinding); configure that key", "sign in again with 'sq-demo login \(Option.dpop.name)'"
    ),
    (
      "set the configuration's authorizationResponseAlgorithm",
      "use \(Option.profile.name) fapi2-signed, which asks for a signed response"
    ),
    (
      "neither by Basic nor in the body",
      "use \(Option.auth.name) basic or \(Option.auth.name) post if the server accepts it nevertheless"
    ),
    (
      "client_secret_jwt needs a client secret",
      "use \(Option.auth.name) with another method that the server accepts"
    ),
    (
      "redirect to handleRedirect",
      "paste the whole address of the page at which your browser stopped"
    ),
    (
      "passed to handleRedirect do not begin",
      "paste the whole address of the page at which your browser stopped, from its scheme on"
    ),
    (
      "set redirectReceiver",
      "name the URI without a port, or with another one that is registered: "
        + "\(Option.redirectURI.name) URI"
    ),
    (
      "a UserAgent of your own",
      "name a browser with \(Option.browser.name) COMMAND, or use \(Option.browser.name) print"
    ),
    (
      "call signOut, or configure the endpoint",
      "use 'sq-demo logout'; if you name the endpoints by hand, add "
        + "\(Option.revocationEndpoint.name) URL"
    ),
    ("has already removed the app there, call signOut", "use 'sq-demo logout'"),
    (
      "call signIn() when a user is there",
      "sign in once in a terminal, or with \(Option.device.name) or \(Option.browser.name) print"
    ),
    (
      "set responseMode",
      "sign in with 'sq-demo login \(Option.responseMode.name) form_post' if the server always does"
    ),
    (
      "give the client the redirect URI that is registered",
      "name it with \(Option.redirectURI.name) URI"
    ),
    ("; if the server showed an error page", "\(Option.timeout.name) SECONDS gives you more time"),
    ("team (teamID)", "name the team with \(Option.team.name) ID"),
    ("requestAccess(answering:)", "sign in again with 'sq-demo login'"),
    (
      "a TokenResponseParser of your own",
      "no option helps: only a program of yours can read such answers"
    ),
  ]
}

extension String {
  /// The first clause of an SDK's message; the others advise what to do.
  var firstClause: String { String(prefix { $0 != ";" }) }
}

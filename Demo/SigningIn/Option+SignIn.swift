/// The options for the server, the client and the sign-in.
extension Option {
  static let provider = Option(
    "--provider", value: "NAME", choices: KnownProvider.names,
    help: "A provider whose endpoints and special rules the SDK knows: "
      + KnownProvider.names.joined(separator: ", ") + ". Some also need its address: "
      + "keycloak needs --issuer https://HOST/realms/REALM, okta --issuer "
      + "https://DOMAIN/oauth2/default, auth0 --issuer https://DOMAIN; gitlab takes the --issuer of "
      + "a GitLab of your own. apple needs --team, and bluesky --handle.")
  static let tenant = Option(
    "--tenant", value: "ID",
    help: "With --provider microsoft: the \"Directory (tenant) ID\" of the only tenant whose users "
      + "may sign in, or organizations, consumers or common, the default.")
  static let team = Option(
    "--team", value: "ID",
    help:
      "With --provider apple: the identifier of the developer's team. The key of --key signs the "
      + "client's secret; the identifier of the key is in the name of Apple's file, "
      + "AuthKey_ID.p8.")
  static let audience = Option(
    "--audience", value: "NAME",
    help: "With --provider auth0: the identifier of the API that the token is for.")
  static let handle = Option(
    "--handle", value: "NAME",
    help: "With --provider bluesky: the handle of the user, such as alice.bsky.social, or the DID. "
      + "The program finds the user's server, and needs no --client-id for a first try.")
  static let issuer = Option(
    "--issuer", value: "URL",
    help: "The issuer identifier of any other authorization server that publishes its metadata. "
      + "With --authorize and --token: the name of the server in its ID tokens.")
  static let authorize = Option(
    "--authorize", value: "URL",
    help: "The authorization endpoint of a server without metadata; needs --token.")
  static let tokenEndpoint = Option(
    "--token", value: "URL", help: "The token endpoint of that server; needs --authorize.")
  static let revocationEndpoint = Option(
    "--revocation", value: "URL",
    help: "The revocation endpoint of that server, if it has one; needs --authorize and --token.")
  static let deviceEndpoint = Option(
    "--device-authorization", value: "URL",
    help: "The endpoint of that server for sign-ins on another device, which --device needs.")
  static let jwks = Option(
    "--jwks", value: "URL",
    help: "The address of that server's keys for ID tokens. With it and --issuer the program "
      + "learns who you are; without them a sign-in brings no identity.")
  static let userInfo = Option(
    "--userinfo", value: "URL",
    help: "The UserInfo endpoint of that server, which 'sq-demo whoami' asks.")
  static let clientID = Option(
    "--client-id", value: "ID", help: "The client's identifier at that server.")
  static let clientSecretFile = Option(
    "--client-secret-file", value: "PATH",
    help: "A file whose first line is the client's secret; the environment variable "
      + "SQ_CLIENT_SECRET can hold it too. A public client has no secret.")
  static let redirectURI = Option(
    "--redirect-uri", value: "URI",
    help: "The address to which the server sends you back, as registered for the client. The "
      + "default is \(SignInArguments.defaultRedirectURI) on any free port. If it is not a loopback "
      + "address, the redirect does not reach this program, and it asks you to paste it.")
  static let scope = Option(
    "--scope", value: "SCOPE",
    help: "The scope to request; several scopes are separated by spaces.")
  static let auth = Option(
    "--auth", value: "basic|basic-unescaped|post|key|none",
    help: "How the client authenticates, even if the server's metadata does not list it. With "
      + "basic-unescaped its identifier and secret are sent without escapes; key signs with the "
      + "key of --key.")
  static let key = Option(
    "--key", value: "FILE",
    help: "A file with the client's private key, in PEM or as a JSON Web Key. The client signs "
      + "with it to authenticate, and sends no secret. The account keeps only the path. The "
      + "passphrase of an encrypted key comes from the environment variable SQ_KEY_PASSPHRASE, "
      + "or the program asks for it.")
  static let par = Option(
    "--par",
    help: "Push the request of the sign-in to the server first. The browser then gets only a "
      + "reference to the request, and cannot change it.")
  static let dpop = Option(
    "--dpop",
    help: "Bind the tokens to a key that the program makes and keeps with the account: without "
      + "the key a stolen token is worth nothing.")
  static let profile = Option(
    "--profile", value: SignInProtections.profileNames.map(\.option).joined(separator: "|"),
    help: "The profile FAPI 2.0: the client signs with --key, the request is pushed and the tokens "
      + "are bound to a key. With fapi2-signed the request and its answer are signed, too.")
  static let quirk = Option(
    "--quirk", value: "NAME", choices: ServerExceptions.quirkNames.map(\.option), repeats: true,
    help: "A violation of the standard by the server's token endpoint that you accept: "
      + ServerExceptions.quirkNames.map(\.option).joined(separator: ", ")
      + "; may be given more than once.")
  static let trustAudience = Option(
    "--trust-audience", value: "ID", repeats: true,
    help: "An audience other than your client that an ID token may name; may be given repeatedly.")
  static let idTokenAlgorithm = Option(
    "--id-token-alg", value: "NAME",
    help: "The algorithm of your client's ID tokens at the server, such as ES256, if it "
      + "is not the usual one.")
  static let withoutPKCE = Option(
    "--without-pkce",
    help: "Accept a server whose metadata lists code challenge methods, but not S256.")
  static let assertionAudience = Option(
    "--assertion-audience", value: "issuer|token-endpoint|endpoint|NAME",
    help: "The server's name in what the key of --key signs: its issuer (the default), the address "
      + "of its token endpoint, the address of the endpoint that gets the request, or a name from "
      + "the server's documentation.")
  static let resource = Option(
    "--resource", value: "URL", repeats: true,
    help: "A server that may get the token; may be given more than once. Then the token goes to "
      + "no other server, even if a command names its URL. Without this option the token goes to "
      + "your provider and to the server of the URL that you give.")
  static let device = Option(
    "--device",
    help: "Sign in on another device: the program shows an address and a code to enter there. "
      + "Without a display and a browser it does so by itself if the server can.")
  static let responseMode = Option(
    "--response-mode", value: "query|form_post",
    help:
      "How the server answers the sign-in: in the address to which it sends the browser, or in a "
      + "form that the browser posts. Without this option, the server decides.")
  static let timeout = Option(
    "--timeout", value: "SECONDS",
    help: "How long you may take to sign in, 300 by default, or on another device until its code "
      + "expires. Also how long a server may take to answer, 60 by default, and for a token 100 at "
      + "most.")
  static let sandbox = Option(
    "--sandbox",
    help: "Sign in at a sandbox inside the program, for this run only: its account is in memory, "
      + "and stored accounts do not change. The program acts as the user, unless "
      + "--browser lets you sign in yourself.")
}

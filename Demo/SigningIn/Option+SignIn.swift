/// The options that say where and how to sign in.
extension Option {
  static let provider = Option(
    "--provider", value: KnownProvider.names.joined(separator: "|"),
    help: "A provider whose endpoints and manners the SDK knows; keycloak with --issuer "
      + "https://HOST/realms/REALM.")
  static let issuer = Option(
    "--issuer", value: "URL",
    help: "Any other authorization server, by the identifier under which it publishes its "
      + "metadata.")
  static let authorize = Option(
    "--authorize", value: "URL",
    help: "Its authorization endpoint, where it publishes none; with --token.")
  static let tokenEndpoint = Option(
    "--token", value: "URL", help: "Its token endpoint; with --authorize.")
  static let revocationEndpoint = Option(
    "--revocation", value: "URL",
    help: "Its revocation endpoint, if it has one; with --authorize and --token.")
  static let clientID = Option(
    "--client-id", value: "ID", help: "The client's identifier at that server.")
  static let clientSecretFile = Option(
    "--client-secret-file", value: "PATH",
    help: "A file whose first line is the client's secret; the environment variable "
      + "SQ_CLIENT_SECRET can hold it too. A public client has none.")
  static let redirectURI = Option(
    "--redirect-uri", value: "URI",
    help: "Where the server sends you back to, as the client registered it. The default is "
      + "\(SignInOptions.defaultRedirectURI) on any free port. What is not on a loopback "
      + "address does not reach this program by itself: it asks you to paste the address.")
  static let scope = Option(
    "--scope", value: "SCOPE", help: "What to ask for; several scopes with spaces between them.")
  static let auth = Option(
    "--auth", value: "basic|basic-unescaped|post|none",
    help: "How the client proves itself, whatever the server's metadata lists. With "
      + "basic-unescaped its identifier and secret are sent as they are.")
  static let resource = Option(
    "--resource", value: "URL", repeats: true,
    help: "A server that may see the token; may be given more than once. Then the token goes to "
      + "no other, whatever URL a command gets. Without this option it goes to your provider and "
      + "to the server of the URL that you give.")
  static let timeout = Option(
    "--timeout", value: "SECONDS",
    help: "How long you may take to sign in, 300 by default. Where a command makes requests with "
      + "the token, also how long the server may be silent, 60 by default.")
  static let sandbox = Option(
    "--sandbox",
    help: "Sign in at a sandbox inside the program, for this run only: its account is in memory, "
      + "and those that are kept are left alone. Its user is played, unless --browser says who is "
      + "to sign in.")
}

/// The error codes of the program itself, which the SDK's article does not explain.
enum ProgramCodes {
  /// The entry that explains the codes of all answers whose status is not 2xx, such as `http_404`.
  private static let status = "http_4xx"

  /// The codes in alphabetical order.
  static var all: [String] { explanations.map(\.code) }

  /// Returns the section of a code of the program; `nil` if the program has no such code.
  static func explanation(of code: String) -> Article.Section? {
    let name = code.wholeMatch(of: /http_[1-9][0-9][0-9]/) == nil ? code : status
    guard let text = explanations.first(where: { $0.code == name })?.text else { return nil }
    return Article.Section(heading: code, paragraphs: [text])
  }

  private static let explanations: [(code: String, text: String)] = [
    (
      "account_exists",
      "A sign-in at the built-in sandbox would replace an account of a lasting server. Sign in at that "
        + "server with `sq-demo login --account ID`, or give the sandbox's account another name with "
        + "`--account`."
    ),
    (
      "account_needed",
      "Several accounts may be meant, or none is for the server of the URL. Name one with `--account "
        + "ID`; `sq-demo accounts` lists them with their servers. Choose an account whose token that "
        + "server may see."
    ),
    (
      "failed",
      "An example of the cookbook failed for a reason that the program does not know. Run it again; the "
        + "lines that it prints show how far it comes."
    ),
    (
      "file_ambiguous",
      "Several files in the drive have that name. Name the file by its identifier, which `sq-demo "
        + "files` shows."
    ),
    (
      "file_exists",
      "A file of that name exists in this folder, and a download replaces a file only if "
        + "`--output` names it. Name another file with `--output`, or move the existing one away."
    ),
    (
      status,
      "A server answered the request with this status. `sq-demo call` prints the answer (of an "
        + "HTML page, a terminal shows only the heading) and the server's challenge if there is "
        + "one. With 401 the server does not accept the token; with 403 the token does not "
        + "suffice; 404 means that there is nothing at the address; 5xx is trouble of the server, "
        + "so a later attempt may succeed."
    ),
    (
      "key_unavailable",
      "An account keeps only the path of its client's key, and the file cannot be used: it is gone, it "
        + "has another content, or other users can read or change it. Restore it, or name another "
        + "file with `--key`; `sq-demo login --account ID --key FILE` changes the path for good."
    ),
    (
      "logged_out",
      "The provider has ended the session of the account's user. Sign in again with `sq-demo login`."
    ),
    (
      "no_account",
      "The store has no account of that name, or none at all. `sq-demo accounts` lists its accounts. "
        + "`sq-demo login` signs one in. For an API that names its authorization server, `sq-demo call "
        + "URL` does so by itself. An account in another store needs the same `--store` as its login."
    ),
    (
      "no_arguments",
      "The program cannot read its arguments, for example because `/proc` is missing. Mount it, "
        + "and start the program without a library that is loaded before it (`LD_PRELOAD`)."
    ),
    (
      "no_drive",
      "The program knows no API for files at the account's server. Give the API's address with "
        + "`--drive`."
    ),
    (
      "no_file", "The drive has no file of that name. `sq-demo files` lists the files."
    ),
    (
      "no_identity",
      "The sign-in brought no ID token, so the program does not know the user. Sign in again with the "
        + "scope `openid`, at a provider that supports OpenID Connect. A server without metadata also "
        + "needs `--issuer` and `--jwks`."
    ),
    (
      "no_room",
      "The system lets the program open too few files, or start too few threads. Close other "
        + "programs, or raise the limits that `ulimit -a` shows."
    ),
    (
      "not_kept",
      "A new token could not be stored, and it is lost with the end of the program. The one in the "
        + "store may be used up. Look at the place of the store: its disk may be full, or read-only. "
        + "Then sign in again with `sq-demo login`."
    ),
    (
      "output_failed",
      "Standard output does not take the result: its disk may be full, or it is closed. The work "
        + "itself may be done. Direct the output to another place and try again."
    ),
    (
      "passphrase_needed",
      "A store or a key is encrypted, and there is no terminal at which the program can ask. Put the "
        + "passphrase into the environment variable that the message names, or run the command in a "
        + "terminal."
    ),
    (
      "redirect_not_received",
      "The redirect of this sign-in does not reach the tour. Sign in with `sq-demo login`, where you can "
        + "paste it, and start the tour with that account."
    ),
    (
      "registered_otherwise",
      "This program is registered at the server with a key, and you name none now, or without a "
        + "key, and you name one. Use `--key` as in the first sign-in there, or keep the account "
        + "in another `--store`."
    ),
    (
      "revoked",
      "The tokens of the account were revoked while the command used them. Sign in again with `sq-demo "
        + "login`."
    ),
    (
      "sandbox_unavailable",
      "The sandbox inside the program cannot start. A rule of the system may forbid the port that "
        + "`--port`, `--rpc-port` or the file of `--config` names (otherwise any free port is "
        + "used), or OpenSSL's configuration may lack an algorithm; the message says which."
    ),
    (
      "secret_needed",
      "The sign-in needs the client's secret: the provider demands one of every client, or the "
        + "account is signed out, and such an account keeps none. Put it into the environment "
        + "variable `SQ_CLIENT_SECRET`, or into a file for `--client-secret-file`. For Apple, name "
        + "the file of the key with `--key`."
    ),
    (
      "sign_in_needed",
      "A user must sign in, and there is neither a browser nor a terminal. Run the command once "
        + "where you can sign in, or with `--device` or `--browser print`. Later runs use the "
        + "account that this one keeps."
    ),
    (
      "signed_out",
      "Another program has signed the account out while the command used it. Sign in again with "
        + "`sq-demo login`."
    ),
    (
      "usage",
      "The command line is wrong, or a file or an environment variable that the command reads, and "
        + "nothing was changed. The message says what is wrong; `sq-demo help COMMAND` shows the "
        + "options."
    ),
  ]
}

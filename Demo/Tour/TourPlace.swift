import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthPipes

/// The server where the tour's user signs in, with the data that the screens show.
struct TourServer: Sendable, Equatable {
  /// A user of the sandbox; the program can simulate this user.
  struct User: Sendable, Equatable, Redacted {
    let name: String
    let password: String
  }

  /// The name or address of the server.
  let name: String
  /// The user of the built-in sandbox; `nil` at any other server.
  var user: User?
  /// The account's name; `nil` at the built-in sandbox.
  var account: String?
  /// The time limit of a sign-in, if it is known.
  var limit: Duration?

  /// Whether the server is the built-in sandbox.
  var isSandbox: Bool { user != nil }
}

/// The account of the tour: the SDK with a client at a server, and the pipe for the files.
struct TourPlace: Sendable {
  let oauth: SQOAuth
  let server: TourServer
  /// The built-in sandbox; `nil` at any other server.
  let sandbox: EmbeddedSandbox?
  /// The pipe for the user's files; `nil` if no API for them is known.
  let files: Pipeline.Pipe?
  /// The reason why a sign-in from the login screen cannot work; `nil` if it can.
  var signInProblem: Failure?

  /// The failure for reading files without a known API.
  static let noFiles = Failure(
    "no_drive", "no API for files is known; name one with --drive", status: .notAuthorized)

  /// Prepares the tour of an account at the built-in sandbox.
  static func sandbox(
    _ sandbox: EmbeddedSandbox, _ options: SignInArguments, _ network: NetworkOptions,
    oauth: SQOAuth = .shared
  ) throws(Failure) -> TourPlace {
    oauth.register(try sandbox.configuration(for: options))
    oauth.environment.transport = network.transport
    oauth.environment.landingPage = .demo
    let description = sandbox.description
    return TourPlace(
      oauth: oauth,
      server: TourServer(
        name: description.issuer,
        user: TourServer.User(name: description.user, password: description.password),
        limit: options.timeout),
      sandbox: sandbox, files: try? Pipeline(sandbox.drive, module: oauth.module).add("files"))
  }

  /// Prepares the tour of an account at another server than the built-in sandbox.
  ///
  /// The account need not be signed in yet.
  static func account(
    _ account: Account, drive: String?
  ) throws(Failure) -> TourPlace {
    let oauth = account.oauth
    var place = TourPlace(
      oauth: oauth,
      server: TourServer(
        name: account.place ?? account.server ?? "not known", account: account.id,
        limit: account.signIn?.timeout),
      sandbox: nil, files: try files(of: account, drive))
    place.signInProblem = signInProblem(account)
    return place
  }

  /// Returns the pipe for an account's files, at an API like Google Drive's or Sequencing's.
  private static func files(
    of account: Account, _ drive: String?
  ) throws(Failure) -> Pipeline.Pipe? {
    guard let address = try? DriveAddress(drive, at: account.server) else {
      // An unusable address is an error only if the user gave it with `--drive`.
      if drive != nil { _ = try DriveAddress(drive, at: account.server) }
      return nil
    }
    return try Failure.refusing { () throws(SQOAuthError) in
      switch address {
      case .drive(let url):
        return try Pipeline(url, module: account.oauth.module).add("files")
      case .sequencing(let url):
        let (origin, endpoint) = try DriveAddress.parts(of: url)
        return try Pipeline(origin, module: account.oauth.module)
          .add("files", PipeConfiguration(endpoint: endpoint))
      }
    }
  }

  /// Returns the reason why the account cannot sign in from the login screen, or `nil` if it can.
  ///
  /// A redirect that does not reach the program must be pasted, and the screens do not support
  /// that.
  private static func signInProblem(_ account: Account) -> Failure? {
    guard let signIn = account.signIn else {
      return Failure(
        "not_registered", "the server of the account is not known", status: .notAuthorized
      )
    }
    guard !signIn.readsNoInput else { return nil }
    return Failure(
      "redirect_not_received",
      "the redirect of this account does not reach the program; sign in with "
        + "'\(account.signInCommand)', which asks for it",
      status: .notAuthorized)
  }
}

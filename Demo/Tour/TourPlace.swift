import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The server at which the tour's user signs in, as the screens tell of it.
struct TourServer: Sendable, Equatable {
  /// A user whom the sandbox's visitor can play.
  struct User: Sendable, Equatable, Redacted {
    let name: String
    let password: String
  }

  /// Its address or its name.
  let name: String
  /// The user of the sandbox inside the program; `nil` at any other server.
  var user: User?
  /// The account's name; `nil` at the sandbox inside the program.
  var account: String?

  /// Whether it is the sandbox inside the program.
  var isSandbox: Bool { user != nil }
}

/// Where the tour goes: the SDK with a client of a server, and what the main screen reads there.
struct TourPlace: Sendable {
  let oauth: SQOAuth
  let server: TourServer
  /// The sandbox inside the program; `nil` at any other server.
  let sandbox: EmbeddedSandbox?
  /// The user's files; `nil` if no API is known that has them.
  let files: Pipeline.Pipe?
  /// Why a sign-in from the login screen cannot work, if that is known.
  var signInProblem: Failure?

  /// The failure of reading files when no API is known that has them.
  static let noFiles = Failure(
    "no_drive", "--drive names the API that has the files", status: .notAuthorized)

  /// The sandbox inside the program.
  static func sandbox(
    _ sandbox: EmbeddedSandbox, _ options: SignInOptions, oauth: SQOAuth = .shared
  ) throws(Failure) -> TourPlace {
    oauth.register(try sandbox.configuration(for: options))
    let description = sandbox.description
    return TourPlace(
      oauth: oauth,
      server: TourServer(
        name: description.issuer,
        user: TourServer.User(name: description.user, password: description.password)),
      sandbox: sandbox, files: try? Pipeline(sandbox.drive, module: oauth.module).add("files"))
  }

  /// The server of an account, which may not be signed in yet.
  static func account(
    _ account: Account, drive: String?
  ) throws(Failure) -> TourPlace {
    let oauth = account.oauth
    var place = TourPlace(
      oauth: oauth,
      server: TourServer(name: account.place ?? account.server ?? "not known", account: account.id),
      sandbox: nil, files: try files(of: account, drive))
    place.signInProblem = signInProblem(account)
    return place
  }

  /// The pipe on an account's files, in the manner of Google Drive or of Sequencing.
  private static func files(
    of account: Account, _ drive: String?
  ) throws(Failure) -> Pipeline.Pipe? {
    guard let address = try? DriveAddress(drive, at: account.server) else {
      // An address that was named is worth an error.
      if drive != nil { _ = try DriveAddress(drive, at: account.server) }
      return nil
    }
    do throws(SQOAuthError) {
      switch address {
      case .drive(let url):
        return try Pipeline(url, module: account.oauth.module).add("files")
      case .sequencing(let url):
        let (origin, endpoint) = try DriveAddress.parts(of: url)
        return try Pipeline(origin, module: account.oauth.module)
          .add("files", PipeConfiguration(endpoint: endpoint))
      }
    } catch {
      throw .refused(error)
    }
  }

  /// A redirect that reaches no program has to be pasted, for which the screens have no place.
  private static func signInProblem(_ account: Account) -> Failure? {
    guard let signIn = account.signIn else {
      return Failure(
        "not_registered", "the account does not say which server it is from", status: .notAuthorized
      )
    }
    guard !signIn.readsNoInput else { return nil }
    return Failure(
      "redirect_not_received",
      "the redirect of this account does not reach the program by itself; sign in with "
        + "'\(account.signInCommand)', which asks for it",
      status: .notAuthorized)
  }
}

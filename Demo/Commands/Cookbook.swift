import SequencingOAuth
import SequencingOAuthPipes

/// The command `cookbook`: shows an app's work with an API step by step, on a built-in drive.
struct Cookbook: Command {
  static let name = "cookbook"
  static let summary = "See what an app does with an API, from sign-in to revocation."
  static let details = """
    It configures a client, gets access, lists the files of a drive, uploads, renames and deletes
    a file, refreshes its token and revokes it. Then it reads again, so the user is asked for
    access again. Each step prints a line. The server and the drive are a sandbox inside the
    program. The program plays the sandbox's user, unless --browser lets you sign in yourself.

    The code is in Demo/Drive/DriveCookbook.swift and is written to be read.
    """
  static let options = [
    .browser,
    Option("--json", help: "Print each step as one JSON object on a line: step and result."),
  ]

  private struct Step: Encodable {
    let step: String
    let result: String
  }

  private let browser: BrowserOption
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    browser = try BrowserOption(arguments[.browser] ?? "sandbox")
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    try await EmbeddedSandbox.running(tokenLifetime: .seconds(3600)) { sandbox throws(Failure) in
      let wait = SignInWait(timeout: .seconds(300), option: nil)
      let opener = browser.commandLine(console, didShow: { console.progress(wait.inWords) })
      let cookbook = DriveCookbook(
        issuer: sandbox.issuer, clientID: sandbox.clientID, api: sandbox.issuer,
        browser: CustomUserAgent { [browser] url in
          if browser.isOfUser { browser.announcement(wait, at: url).forEach(console.progress) }
          try await opener.open(url)
        },
        tell: { step, result throws(Failure) in
          try console.result(
            printsJSON
              ? try oneLineOfJSON(Step(step: step, result: result))
              : "\(step.padded(to: 11))\(result.onScreen)")
        })
      do {
        try await cookbook.run()
      } catch {
        throw Failure(any: error)
      }
    }
  }
}

extension Failure {
  /// Creates a failure from an error without a declared type.
  fileprivate init(any error: any Error) {
    switch error {
    case let error as Failure: self = error
    case let error as PipeError: self.init(error)
    case let error as SQOAuthError: self.init(error)
    default: self.init("failed", "the cookbook failed", status: .notAuthorized)
    }
  }
}

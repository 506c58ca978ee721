import SequencingOAuth
import SequencingOAuthPipes

extension Option {
  static let output = Option(
    "--output", short: "-o", value: "PATH",
    help: "The file into which 'get' writes the content; an existing file is replaced. By default "
      + "its name is the title, and the file must not exist yet.")
  static let title = Option(
    "--title", value: "TITLE",
    help: "The title that 'put' gives to the file; its name on this machine by default.")
  static let filesAsJSON = Option(
    "--json",
    help: "Print each file as one JSON object on a line: id, title, size (bytes), modified "
      + "(ISO 8601) and type, as far as they are known.")
}

/// The command `files`: lists, downloads, uploads, renames and deletes the account's files.
struct Files: Command {
  static let name = "files"
  static let summary = "List an account's files; get, put, rename and delete them."
  static let details = """
    Without an action it prints all files, one per line: ID, bytes, date and title. FILE is
    an ID, or a title that only one file has. 'put' and 'rename' print the file after the
    change.

    A terminal shows the progress of 'get' and 'put'. If a 'get' was interrupted, run it
    again: it continues where it stopped. Until the content is complete, it is in
    PATH.partial. If a file of yours has that name, the command does not change it.

    The account is a stored one from 'sq-demo login', or a new one, as for 'sq-demo token';
    if nobody is signed in, the first request signs in. With --sandbox the command uses the
    drive of a sandbox inside the program; that drive ends with the run. Reading there needs
    the scope 'demo' or 'files', and changes need 'files'.
    """
  static let forms = [
    Form(), Form(action: "get", operands: ["FILE"]), Form(action: "put", operands: ["PATH"]),
    Form(action: "rename", operands: ["FILE", "TITLE"]),
    Form(action: "delete", operands: ["FILE"]),
  ]
  static let options = [.output, .title, .drive, .filesAsJSON] + AccountOptions.optionsOrSandbox

  private let work: FilesWork
  private let drive: String?
  private let printsJSON: Bool
  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    var account = try AccountOptions(arguments)
    account.signsInWhenNeeded = true
    self.account = account
    work = try FilesWork(arguments)
    drive = arguments[.drive]
    try DriveAddress.check(drive)
    if let drive, work != .list, DriveAddress.isList(drive) { throw Self.isListOnly }
    printsJSON = arguments.contains(.filesAsJSON)
  }

  private static let isListOnly = Failure.usage(
    "Sequencing's files can only be listed, not downloaded or changed")

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    // Read the file before the user signs in: if it cannot be read, no token is needed.
    let content = try work.prepare()
    try await account.withAccount(console) { account throws(Failure) in
      let address = try DriveAddress(drive, at: account.server)
      do throws(Failure) {
        try await run(at: address, content, account, console)
      } catch {
        throw error.hiding(account.oauth.result.token)
      }
    }
  }

  private func run(
    at address: DriveAddress, _ content: WebRequestBody, _ account: Account, _ console: Console
  ) async throws(Failure) {
    let module = account.oauth.module
    let answerLimit = self.account.signIn.answerLimit
    let failure: @Sendable (PipeError) -> Failure = { Failure($0, signIn: account.signIn) }
    let report = FilesReport(console: console, printsJSON: printsJSON)
    switch address {
    case .drive(let url):
      let drive = try Drive(url, module, timeout: answerLimit, failure: failure)
      try await work.run(drive, content, report)
    case .sequencing(let url):
      guard work == .list else { throw Self.isListOnly }
      let list = try SequencingList(url, module, timeout: answerLimit, failure: failure)
      try await report.list(list.list())
    }
  }
}

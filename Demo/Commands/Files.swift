import SequencingOAuth

extension Option {
  static let output = Option(
    "--output", short: "-o", value: "PATH",
    help: "Where 'get' puts the content; a file of the title's name by default, unless there is "
      + "one. What is there is replaced.")
  static let title = Option(
    "--title", value: "TITLE", help: "What 'put' calls the file; its name here by default.")
  static let filesAsJSON = Option(
    "--json",
    help: "Print each file as one JSON object on a line: id, title, size (bytes), modified "
      + "(ISO 8601) and type, as far as they are known.")
}

/// `files`: lists the account's files, brings them here, adds, renames and deletes them.
struct Files: Command {
  static let name = "files"
  static let summary = "List an account's files; get, put, rename and delete them."
  static let details = """
    Alone it prints one file a line: ID, bytes, date and title, all pages of them. FILE is an
    ID, or a title that only one file has. 'put' and 'rename' print the file as it is then.

    A terminal shows how far 'get' and 'put' are. A 'get' that was interrupted goes on where
    it stopped when it is run again; until all is there, the content is in PATH.partial.

    It is an account that a login before has kept, or a new one, as for 'sq-demo token': the
    first request signs in, where that is needed. With --sandbox it is the drive of a sandbox
    inside the program, which lasts as long as the run. Reading needs the scope 'demo' or
    'files' there, and changing needs 'files'.
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
    "Sequencing's files can be listed only, not got or changed")

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    // Before a user signs in: a file that cannot be read or written needs no token.
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
    at address: DriveAddress, _ content: HTTPRequestBody, _ account: Account, _ console: Console
  ) async throws(Failure) {
    let module = account.oauth.module
    let patience = self.account.signIn.patience
    let failure: @Sendable (PipeError) -> Failure = { Failure($0, signIn: account.signIn) }
    let report = FilesReport(console: console, printsJSON: printsJSON)
    switch address {
    case .drive(let url):
      let drive = try Drive(url, module, timeout: patience, failure: failure)
      try await work.run(drive, content, report)
    case .sequencing(let url):
      guard work == .list else { throw Self.isListOnly }
      let list = try SequencingList(url, module, timeout: patience, failure: failure)
      try await report.list(list.list())
    }
  }
}

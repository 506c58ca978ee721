import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthDiscovery

/// The command `discover`: says how a call would get access to a resource.
struct Discover: Command {
  static let name = "discover"
  static let summary = "Show how a call to an API would sign in, and at which server."
  static let details = """
    The command asks the address itself, then the description that its challenge names or
    that stands at the usual places (RFC 9728), then the authorization servers for their
    metadata (RFC 8414). It prints each address with its answer, the resource, the server
    that a call would use and why, who this program is there, and the scopes that a sign-in
    would ask for.

    It sends only GET requests without a token, registers nothing, and changes nothing.
    'sq-demo call URL' does the rest.

    --client-id is the address of a document about the client, for servers that accept one.
    If no server can be used, the exit status is 1.

    With --json it prints one object: address, steps (address, status, result), resource,
    resource_name, scopes_supported, authorization_servers, servers (issuer, is_used, reason
    and endpoints), client (way: by_hand, document or registration; client_id; exists),
    scope, binding, account and accounts, as far as they are known.
    """
  static let forms = [Form(operands: ["URL"])]
  static let options: [Option] =
    [.clientID, .scope, .dpop, .timeout] + NetworkOptions.options + StoreOptions.options + [.json]

  private let address: String
  private let target: CallTarget
  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    address = arguments.operands[0]
    account = try AccountOptions(arguments, findServer: true)
    printsJSON = arguments.contains(.json)
    target = try CallTarget(checking: address)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    let (options, records) = try await account.opening(console)
    let asked = AskedAddresses(through: console.network.transport)
    let report: DiscoveryReport
    do throws(Failure) {
      report = try await search(options, records, asked, console)
    } catch {
      // Print the steps even after a failure, because they show where the search ended.
      let store: any TokenStore = options.opened?.store ?? MemoryTokenStore()
      let account = try await candidates(
        of: ResourceAccess(address, nil, options, records), in: store)
      if printsJSON {
        try console.result(try oneLineOfJSON(DiscoveryReport(address, nil, asked.steps, account)))
      } else {
        for step in asked.steps { console.progress(step.lines) }
        if account.isOfLogin, !account.ids.isEmpty {
          console.progress(account.words(needsToken: true))
        }
      }
      throw error
    }
    try console.result(printsJSON ? try oneLineOfJSON(report) : report.text)
    guard report.isUsable else {
      let problem = report.problem
      throw Failure(
        (problem?.code ?? .clientUnknown).rawValue,
        problem?.message ?? "the resource names no server", status: .notAuthorized)
    }
  }

  private func search(
    _ options: AccountOptions, _ records: [AccountRecord], _ asked: AskedAddresses,
    _ console: Console
  ) async throws(Failure) -> DiscoveryReport {
    var environment = console.environment
    environment.transport = asked
    let store: any TokenStore = options.opened?.store ?? MemoryTokenStore()
    let access = ResourceAccess(address, nil, options, records)
    let account = try await candidates(of: access, in: store)
    return try await Failure.translating { () throws(SQOAuthError) in
      let client = try ResourceClient(
        address, as: access.identity(in: options.opened),
        accounts: AccountManager(store: store, environment: environment), options: access.settings)
      var request = try WebRequest(method: "GET", url: address)
      request.timeout = options.signIn.answerLimit
      let response = try await environment.exchange(request, for: .resource)
      let plan = try await client.plan(after: response)
      return DiscoveryReport(address, plan, asked.steps, account)
    }
  }

  /// Returns the account that a call without `--account` uses, or the accounts from which the user
  /// must choose.
  private func candidates(
    of access: ResourceAccess, in store: any TokenStore
  ) async throws(Failure) -> DiscoveryReport.Account {
    let (candidates, isOfLogin): ([AccountRecord], Bool)
    switch target.choice(among: access.records) {
    case .resource(let record): (candidates, isOfLogin) = ([record], false)
    case .login(let record): (candidates, isOfLogin) = ([record], true)
    case .open(let several):
      (candidates, isOfLogin) = (several, KeptClient(several[0]).identifiers.isEmpty)
    case .new:
      try access.checkName()
      (candidates, isOfLogin) = ([], false)
    }
    // Leave out an account whose session has ended, because it has no token.
    var kept: [String] = []
    for id in candidates.map(\.id) where (try? await store.load(id)) != nil { kept.append(id) }
    return DiscoveryReport.Account(ids: kept, isOfLogin: isOfLogin)
  }
}

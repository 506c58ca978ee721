import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC

/// The command `rpc`: makes a gRPC call with the account's token.
struct RPC: Command {
  static let name = "rpc"
  static let summary = "Call a gRPC server with the account's token."
  static let details = """
    It calls grpc.testing.TestService/UnaryCall, as gRPC's own examples of authentication do,
    and prints the token's scope and user, which the server returns, or the server's
    challenge. URL is https://HOST:PORT or, on this machine only, http://HOST:PORT without
    encryption. With --sandbox leave it out: a sandbox and a gRPC server that takes its tokens
    then run inside the program, for this run only.

    The token is in the environment variable SQ_ACCESS_TOKEN. If that is not set, it is the
    token of an account that 'sq-demo login' has kept, or of a new account if the options
    name its provider. If an account's token has expired, it is refreshed first; if the
    server refuses it, it is refreshed and the call is made once more. If the server sends a
    challenge, the command prints it.

    With --json it prints one object: scope and user.

    The code is in Demo/RPC and is written to be read.
    """
  static let forms = [Form(operands: ["URL"], optional: "URL")]
  static let options = [.json] + AccountOptions.optionsOrSandbox

  /// The server that the arguments name; `nil` for the built-in sandbox's gRPC server.
  private let server: RPCServer?
  private let token: Secret?
  private let printsJSON: Bool
  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    let account = try AccountOptions(arguments)
    self.account = account
    server = try Self.server(arguments, account.signIn)
    printsJSON = arguments.contains(.json)
    token = arguments.secrets.accessToken
    if let token { try Self.check(token) }
  }

  private static let needsServer = Failure.usage(
    "URL is missing; it can be left out with --sandbox only")

  private static func server(
    _ arguments: Arguments, _ signIn: SignInArguments
  ) throws(Failure) -> RPCServer? {
    let url = arguments.operands.first
    guard signIn.usesSandbox else {
      guard let url else { throw needsServer }
      return try RPCServer(url, network: arguments.network, timeout: signIn.answerLimit)
    }
    // No other server accepts the tokens of a sandbox that starts now.
    guard url == nil else { throw .usage("--sandbox has a gRPC server of its own; leave URL out") }
    return nil
  }

  /// Checks that the token can be sent.
  private static func check(_ token: Secret) throws(Failure) {
    var metadata = RPCMetadata()
    do throws(RPCCallError) {
      try metadata.setOAuth2AccessToken(token.value)
    } catch {
      throw .usage("\(token.kind.variable): \(error.message)")
    }
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    guard let token else {
      return try await account.withAccount(console) { account throws(Failure) in
        try await call(for: account, console)
      }
    }
    let credential = RPCCredential.accessToken(token.value)
    if let server { return try await call(server, with: credential, console) }
    try await EmbeddedSandbox.running(
      tokenLifetime: account.tokenLifetime
    ) { sandbox throws(Failure) in
      try await call(server(beside: sandbox), with: credential, console)
    }
  }

  private func server(beside sandbox: EmbeddedSandbox?) throws(Failure) -> RPCServer {
    if let server { return server }
    guard let sandbox else { throw Self.needsServer }
    return try sandbox.rpcServer(timeout: account.signIn.answerLimit)
  }

  private func call(for account: Account, _ console: Console) async throws(Failure) {
    let server = try server(beside: account.sandbox)
    do throws(Failure) {
      try await call(server, with: .account(account.oauth.module), console)
    } catch {
      throw error.hiding(account.oauth.result.token)
    }
  }

  private func call(
    _ server: RPCServer, with credential: RPCCredential, _ console: Console
  ) async throws(Failure) {
    if console.errors.isTerminal { console.progress(RPCServer.waiting) }
    let answer = try await server.ask(with: credential)
    try console.result(printsJSON ? try oneLineOfJSON(answer) : answer.sentence)
  }
}

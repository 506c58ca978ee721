import SequencingOAuth
import SequencingOAuthGRPC

/// `rpc`: makes a gRPC call with the account's token.
struct RPC: Command {
  static let name = "rpc"
  static let summary = "Call a gRPC server with the account's token."
  static let details = """
    It calls grpc.testing.TestService/UnaryCall, as gRPC's own examples of authentication do,
    and prints the token's scope and user, which the server returns, or the server's
    challenge. URL is https://HOST:PORT or, on this machine only, http://HOST:PORT without
    encryption.

    The token is in the environment variable SQ_ACCESS_TOKEN. If that is not set, it is the
    token of an account that 'sq-demo login' has kept, or of a new account if the options
    name its provider. If an account's token has expired, it is refreshed first; if the
    server refuses it, it is refreshed and the call is made once more. If the server sends a
    challenge, the command prints it.

    With --json it prints one object: scope and user.

    The code is in Demo/RPC and is written to be read.
    """
  static let forms = [Form(operands: ["URL"])]
  static let options = [.authorities, .json] + AccountOptions.options

  private let server: RPCServer
  private let token: Secret?
  private let printsJSON: Bool
  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    var account = try AccountOptions(arguments)
    // No gRPC server knows the tokens of a sandbox that starts now.
    account.canUseSandbox = false
    self.account = account
    server = try RPCServer(
      arguments.operands[0], authorities: arguments[.authorities],
      timeout: account.signIn.answerLimit)
    printsJSON = arguments.contains(.json)
    token = arguments.secrets.accessToken
    if let token { try Self.check(token) }
  }

  /// Checks that the token can be sent.
  private static func check(_ token: Secret) throws(Failure) {
    var metadata = RPCMetadata()
    do throws(RPCError) {
      try metadata.setOAuth2AccessToken(token.value)
    } catch {
      throw .usage("\(token.kind.variable): \(error.message)")
    }
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    if let token { return try await call(with: .accessToken(token.value), console) }
    try await account.withAccount(console) { account throws(Failure) in
      try await call(for: account, console)
    }
  }

  private func call(for account: Account, _ console: Console) async throws(Failure) {
    do throws(Failure) {
      try await call(with: .account(account.oauth.module), console)
    } catch {
      throw error.hiding(account.oauth.result.token)
    }
  }

  private func call(with credential: RPCCredential, _ console: Console) async throws(Failure) {
    if console.errors.isTerminal { console.progress(RPCServer.waiting) }
    let answer = try await server.ask(with: credential)
    try console.result(printsJSON ? try oneLineOfJSON(answer) : answer.sentence)
  }
}

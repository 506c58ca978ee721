import SequencingOAuth
import SequencingOAuthGRPC

/// `rpc`: makes a gRPC call with the account's token.
struct RPC: Command {
  static let name = "rpc"
  static let summary = "Call a gRPC server with the account's token."
  static let details = """
    It calls grpc.testing.TestService/UnaryCall, as gRPC's own examples of authentication do,
    and prints the scope and the user that the server tells of the token, or the server's
    challenge. URL is http://HOST:PORT in clear, on this machine only, or https://HOST:PORT.

    The token is that of the environment variable SQ_ACCESS_TOKEN, where that is set; else
    that of an account that a login before has kept, or of a new one, where the options name
    its provider. An account's token that has expired, or that the server refuses, is
    refreshed, and the call made again once. A server that refuses the call may say in a
    challenge what it asks for: that is printed too.

    With --json it is one object: scope and user.

    The code is in Demo/RPC, and is meant to be read.
    """
  static let forms = [Form(operands: ["URL"])]
  static let options = [.authorities, .json] + AccountOptions.options

  private let server: RPCServer
  private let token: Secret?
  private let printsJSON: Bool
  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    var account = try AccountOptions(arguments)
    // No gRPC server knows the tokens of a sandbox that begins now.
    account.canUseSandbox = false
    self.account = account
    server = try RPCServer(
      arguments.operands[0], authorities: arguments[.authorities],
      timeout: account.signIn.patience)
    printsJSON = arguments.contains(.json)
    token = arguments.secrets.accessToken
    if let token { try Self.check(token) }
  }

  /// Makes sure that a token can be sent.
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

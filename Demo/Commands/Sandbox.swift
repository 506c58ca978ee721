import OAuthSandbox
import OAuthSandboxGRPC
import SQFoundation

extension Option {
  static let port = Option(
    "--port", value: "N", help: "The port on 127.0.0.1; any free port by default.")
  static let rpcPort = Option(
    "--rpc-port", value: "N",
    help: "The port of its gRPC server on 127.0.0.1; any free port by default.")
  static let lifetime = Option(
    "--lifetime", value: "SECONDS",
    help: "How long the sandbox's access tokens are valid; 3600 by default.")
  static let signedTokens = Option(
    "--jwt", help: "Make access tokens signed JWTs, which services can check by themselves.")
  static let describeAsJSON = Option(
    "--json", help: "Describe the sandbox in one JSON object on one line.")
}

/// The command `sandbox`: runs an authorization server until it is interrupted.
struct Sandbox: Command {
  static let name = "sandbox"
  static let summary = "Run an authorization server to play with, until interrupted."
  static let details = """
    The server listens on this machine only, keeps everything in memory, and ends with
    Ctrl-C. It comes with a gRPC server that accepts its tokens, for 'sq-demo rpc'.

    With --profile it demands what such a server demands of all clients. Under FAPI 2.0 a
    client signs with a key. These commands show the whole:

    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem

    sq-demo sandbox --profile fapi2 --client-key key.pem --port 8989

    sq-demo login --issuer http://127.0.0.1:8989 --client-id sandbox-key-app --key key.pem
    --profile fapi2 --browser sandbox

    sq-demo call GET /api/me

    With --config the sandbox has the clients, users, scopes, lifetimes and resources of a
    JSON file. 'sq-demo sandbox --config-example' prints such a file. A list of clients or
    users replaces the sandbox's own; the scopes are added to its own. The file's secrets
    and passwords are for tests: never put a real one into it.

    Its API describes itself, so 'sq-demo call' and 'sq-demo discover' need only the address.

    With --json it prints one object: issuer, resource, authorization_endpoint, token_endpoint, \
    revocation_endpoint, jwks_uri, userinfo_endpoint, end_session_endpoint, api (me, list, \
    drive, upload, grpc), profile, scopes (scope, summary), clients (client_id, \
    client_secret) and users (user_name, password).
    """
  static let options: [Option] =
    [.config, .configExample, .port, .rpcPort, .lifetime, .signedTokens] + SandboxRules.options
    + [.describeAsJSON]

  /// The settings from the file that `--config` names, or the defaults.
  private let settings: SandboxOptions
  private let printsExample: Bool
  private let port: UInt16?
  private let rpcPort: UInt16
  private let lifetime: Duration?
  private let signsTokens: Bool
  private let rules: SandboxRules
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    signsTokens = arguments.contains(.signedTokens)
    printsJSON = arguments.contains(.describeAsJSON)
    lifetime = try Self.lifetime(arguments[.lifetime])
    rules = try SandboxRules(arguments)
    port = try Self.port(arguments, .port)
    rpcPort = try Self.port(arguments, .rpcPort) ?? 0
    printsExample = arguments.contains(.configExample)
    settings =
      try arguments[.config].map { path throws(Failure) in
        try SandboxConfig(path: path).options
      } ?? SandboxOptions()
  }

  private static func port(_ arguments: Arguments, _ option: Option) throws(Failure) -> UInt16? {
    guard let text = arguments[option] else { return nil }
    guard let port = UInt16(text) else {
      throw .usage("\(option.name) takes a number from 0 to 65535")
    }
    return port
  }

  private static func lifetime(_ text: String?) throws(Failure) -> Duration? {
    guard let text else { return nil }
    guard let seconds = Int(text), (1...86_400).contains(seconds) else {
      throw .usage("--lifetime takes whole seconds, from 1 to 86400")
    }
    return .seconds(seconds)
  }

  /// Returns the sandbox's settings: the settings from the file, changed by the other options of
  /// the command line.
  func options() throws(Failure) -> SandboxOptions {
    var options = settings
    if let port { options.port = port }
    if let lifetime { options.accessTokenLifetime = lifetime }
    try rules.apply(to: &options)
    if signsTokens { options.accessTokenFormat = .jwt(.rs256) }
    guard rpcPort == 0 || rpcPort != options.port else {
      throw .usage(
        "\(Option.rpcPort.name) \(rpcPort) is the sandbox's own port; choose another one")
    }
    return options
  }

  func run(_ console: Console) async throws(Failure) {
    guard !printsExample else { return try console.result(SandboxConfig.example) }
    let options = try self.options()
    let server = try await EmbeddedSandbox.start(options)
    let grpc = try EmbeddedSandbox.startRPC(of: server, port: rpcPort)
    let report = SandboxReport(server, grpc, scopes: options.scopes, rules: rules)
    try console.result(printsJSON ? try report.json() : report.text)
    // The servers run until a signal cancels the task. They record all requests, which this command
    // does not use, so these are erased regularly.
    while !Task.isCancelled {
      server.forgetRequests()
      grpc.forgetCalls()
      try? await Task.sleep(for: .seconds(60))
    }
    await grpc.stop()
    await server.stop()
  }
}

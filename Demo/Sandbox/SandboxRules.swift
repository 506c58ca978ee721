import OAuthSandbox
import SQBasics
import SequencingOAuth

extension Option {
  static let sandboxProfile = Option(
    "--profile", value: SandboxRules.profiles.map(\.option).joined(separator: "|"),
    help: "Demand what a profile demands of all clients: FAPI 2.0, with fapi2-signed also signed "
      + "requests and answers, or rules like those of AT Protocol.")
  static let sandboxDPoP = Option(
    "--dpop", help: "Bind the tokens of clients that prove a key, as 'sq-demo login --dpop' does.")
  static let clientKey = Option(
    "--client-key", value: "FILE",
    help: "Register a client that signs with this key: a file with the key or its public half, in "
      + "PEM or as a JSON Web Key.")
  static let undescribed = Option(
    "--undescribed",
    help: "Let the API not describe itself, so that no client finds the server by the API's "
      + "address.")
  static let sandboxStepUp = Option(
    "--step-up",
    help: "Let the API's first challenge name only the scope 'profile'; the list of files and the "
      + "drive then demand further scopes of a client that has signed in.")
  static let clientDocuments = Option(
    "--client-documents",
    help: "Accept clients whose identifier is the address of a document about them, at a server on "
      + "this machine.")
}

/// The rules that the command `sandbox` imposes on its clients, and the client with a key.
struct SandboxRules: Sendable {
  static let options: [Option] = [
    .sandboxProfile, .sandboxDPoP, .clientKey, .undescribed, .sandboxStepUp, .clientDocuments,
  ]
  /// The identifier of the client with a key.
  static let keyClientID = "sandbox-key-app"

  /// The profiles by their names in the option.
  static let profiles: [(option: String, profile: SandboxSecurityProfile)] = [
    ("fapi2", .fapi2), ("fapi2-signed", .fapi2MessageSigning), ("atproto", .atProtocol),
  ]

  private let profile: SandboxSecurityProfile?
  private let acceptsProofs: Bool
  private let key: SandboxKey?
  /// Whether the API has metadata (RFC 9728), so that its address is enough for a client.
  let describesAPI: Bool
  private let stepsUp: Bool
  private let readsDocuments: Bool

  init(_ arguments: Arguments) throws(Failure) {
    profile = try Self.profile(arguments[.sandboxProfile])
    acceptsProofs = arguments.contains(.sandboxDPoP)
    describesAPI = !arguments.contains(.undescribed)
    stepsUp = arguments.contains(.sandboxStepUp)
    readsDocuments = arguments.contains(.clientDocuments)
    let (passphrase, isStrict) = (arguments.secrets.keyPassphrase, profile != nil)
    key = try arguments[.clientKey].map { path throws(Failure) in
      try SandboxKey(path, passphrase: passphrase, isStrict: isStrict)
    }
    guard key != nil || !needsKey else { throw Self.needsKey(profileName ?? "") }
    var options = SandboxOptions()
    try apply(to: &options)
    guard let key else { return }
    let accepted = options.assertionAlgorithms.map(\.rawValue)
    guard accepted.contains(key.algorithm) else {
      throw .usage(
        "\(Option.sandboxProfile.name) \(profileName ?? "") accepts a key for "
          + "\(accepted.joined(separator: ", ")); the key in \(key.path.onScreen) is for "
          + key.algorithm)
    }
  }

  private static func needsKey(_ profile: String) -> Failure {
    .usage(
      "\(Option.sandboxProfile.name) \(profile) needs the key of its client: "
        + "\(Option.clientKey.name) FILE; 'openssl genpkey -algorithm EC -pkeyopt "
        + "ec_paramgen_curve:P-256 -out key.pem' makes one")
  }

  private static func profile(_ name: String?) throws(Failure) -> SandboxSecurityProfile? {
    guard let name else { return nil }
    guard let found = profiles.first(where: { $0.option == name }) else {
      throw .usage(
        "\(Option.sandboxProfile.name) takes fapi2, fapi2-signed or atproto, not "
          + "\"\(name.onScreen)\"" + Suggestion.question(name, among: Option.sandboxProfile.choices)
      )
    }
    return found.profile
  }

  /// The value of `--profile`; `nil` if there is none.
  var profileName: String? { Self.profiles.first { $0.profile == profile }?.option }
  /// Whether only clients with a key can sign in.
  private var needsKey: Bool { profile == .fapi2 || profile == .fapi2MessageSigning }

  /// Applies these rules to the options of a sandbox, and puts the client with the key first.
  func apply(to options: inout SandboxOptions) throws(Failure) {
    if acceptsProofs { options.dpop = SandboxDPoPOptions(.accepted) }
    if let profile { options.apply(profile) }
    options.resources.describesItself = describesAPI
    if stepsUp { options.resources.scopes = ["profile"] }
    if readsDocuments {
      options.clientDocuments = SandboxClientDocuments(asksLoopbackServers: true)
    }
    // A client without a key of its own can do nothing under FAPI 2.0.
    if needsKey { options.clients.removeAll { $0.keys.isEmpty } }
    guard let key else { return }
    var client = SandboxClient(
      id: Self.keyClientID, key: try SandboxJSON(key.publicJWK), name: "Sandbox Key App")
    // FAPI 2.0 forbids RS256 for ID tokens too.
    if needsKey { client.idTokenAlgorithm = .es256 }
    options.clients.insert(client, at: 0)
  }

  /// Describes a client for the report, without the client's identifier.
  func words(for client: SandboxClient) -> String {
    if let secret = client.secret { return "with the secret \(secret.onScreen)" }
    guard let key, client.id == Self.keyClientID else {
      return client.keys.isEmpty ? "a public client" : "with a key of its own"
    }
    return "with the key of \(key.path.onScreen) (\(key.algorithm))"
  }

  /// Whether the tokens of the login in the report are bound to a key.
  private var bindsTokens: Bool { acceptsProofs || profile != nil }

  /// The options of the report's `login` command, after the issuer and the client.
  var loginOptions: String {
    var words: [String] = []
    if let key { words += ["--key", key.isPrivate ? ShellWords.quote(key.path.onScreen) : "FILE"] }
    if needsKey, let profileName { words += ["--profile", profileName] }
    if profile == .atProtocol { words.append(Option.par.name) }
    if bindsTokens, !needsKey { words.append(Option.dpop.name) }
    return words.map { $0 + " " }.joined()
  }
}

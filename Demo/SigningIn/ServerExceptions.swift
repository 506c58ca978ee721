import SQBasics
import SequencingOAuth

/// The deviations from the standards that the user allows a server.
struct ServerExceptions: Sendable, Equatable {
  static let options: [Option] = [
    .quirk, .trustAudience, .idTokenAlgorithm, .withoutPKCE, .assertionAudience,
  ]

  /// The accepted violations of the standard in the token endpoint's answers.
  private(set) var quirks: TokenResponseQuirks = []
  /// The audiences other than the client that an ID token may name.
  private(set) var audiences: Set<String> = []
  /// The algorithm of the server's ID tokens; `nil` lets the SDK decide.
  private(set) var algorithm: JWSAlgorithm?
  /// Whether to accept a server whose metadata lists methods of PKCE, but not `S256`.
  private(set) var acceptsNoPKCE = false
  /// The server's name, `aud`, in the assertions that the client's key signs; `nil` for the name
  /// that the provider uses by default.
  private(set) var assertionAudience: AssertionAudience?

  /// The violations that `--quirk` accepts, with their names in the option and in the SDK.
  static let quirkNames: [(option: String, sdk: String, quirk: TokenResponseQuirks)] = [
    ("missing-token-type", "missingTokenType", .missingTokenType),
    ("any-content-type", "anyContentType", .anyContentType),
    ("form-encoded", "formEncoded", .formEncoded),
    ("comma-separated-scopes", "commaSeparatedScopes", .commaSeparatedScopes),
    ("token-in-authed-user", "tokenInAuthedUser", .tokenInAuthedUser),
    ("user-token-type", "userTokenType", .userTokenType),
    ("bot-token-type", "botTokenType", .botTokenType),
    ("ok-member", "okMember", .okMember),
  ]

  /// Reads the exceptions from the options.
  init(_ arguments: Arguments) throws(Failure) {
    for name in arguments.all(.quirk) { quirks.formUnion(try Self.quirk(name)) }
    audiences = Set(arguments.all(.trustAudience))
    assertionAudience = arguments[.assertionAudience].map(AssertionAudience.init(option:))
    acceptsNoPKCE = arguments.contains(.withoutPKCE)
    guard let name = arguments[.idTokenAlgorithm] else { return }
    guard let algorithm = JWSAlgorithm(named: name) else {
      throw .usage(
        "\(Option.idTokenAlgorithm.name) takes one of "
          + JWSAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
          + ", not \"\(name.onScreen)\"")
    }
    self.algorithm = algorithm
  }

  /// Creates the exceptions in a client's configuration, without its provider's own exceptions.
  init(_ client: ClientConfiguration, beyond provider: Provider) {
    quirks = client.provider.tokenResponseQuirks.subtracting(provider.tokenResponseQuirks)
    audiences = client.trustedAudiences
    algorithm = client.idTokenAlgorithm
    acceptsNoPKCE = client.acceptsServersWithoutPKCE
    let audience = client.provider.assertionAudience
    assertionAudience = audience == provider.assertionAudience ? nil : audience
  }

  private static func quirk(_ name: String) throws(Failure) -> TokenResponseQuirks {
    guard let found = quirkNames.first(where: { $0.option == name }) else {
      throw .usage(
        "\(Option.quirk.name) takes \(quirkNames.map(\.option).joined(separator: ", ")), not "
          + "\"\(name.onScreen)\"" + Suggestion.question(name, among: Option.quirk.choices))
    }
    return found.quirk
  }

  /// Returns these exceptions; where the user named none, the account's earlier exceptions apply.
  func completed(by earlier: ServerExceptions) -> ServerExceptions {
    var all = self
    if quirks.isEmpty { all.quirks = earlier.quirks }
    if audiences.isEmpty { all.audiences = earlier.audiences }
    all.algorithm = algorithm ?? earlier.algorithm
    all.acceptsNoPKCE = acceptsNoPKCE || earlier.acceptsNoPKCE
    all.assertionAudience = assertionAudience ?? earlier.assertionAudience
    return all
  }

  /// Returns the provider with these exceptions.
  func provider(_ provider: Provider) -> Provider {
    var provider = provider
    provider.tokenResponseQuirks.formUnion(quirks)
    if let assertionAudience { provider.assertionAudience = assertionAudience }
    return provider
  }

  func apply(to client: inout ClientConfiguration) {
    client.trustedAudiences = audiences
    client.idTokenAlgorithm = algorithm
    client.acceptsServersWithoutPKCE = acceptsNoPKCE
  }
}

// The exceptions in the form of an account's attributes, with names separated by spaces.
extension ServerExceptions {
  /// The attributes of the exceptions; none for the default behavior.
  var attributes: [KeptClient.Key: String] {
    let names = Self.quirkNames.filter { quirks.contains($0.quirk) }.map(\.option)
    var values: [KeptClient.Key: String] = [:]
    if !names.isEmpty { values[.quirks] = names.joined(separator: " ") }
    if !audiences.isEmpty { values[.audiences] = audiences.sorted().joined(separator: " ") }
    values[.algorithm] = algorithm?.rawValue
    if acceptsNoPKCE { values[.noPKCE] = "true" }
    values[.assertionAudience] = assertionAudience?.option
    return values
  }

  /// Reads the exceptions from attributes, and ignores unknown names.
  ///
  /// ``KeptClient/checkLimits()`` rejects an unknown algorithm.
  init(_ attributes: [KeptClient.Key: String]) {
    func words(_ key: KeptClient.Key) -> [String] {
      attributes[key]?.split(separator: " ").map(String.init) ?? []
    }
    for name in words(.quirks) { quirks.formUnion((try? Self.quirk(name)) ?? []) }
    audiences = Set(words(.audiences))
    algorithm = attributes[.algorithm].flatMap(JWSAlgorithm.init(rawValue:))
    acceptsNoPKCE = attributes[.noPKCE] != nil
    assertionAudience = attributes[.assertionAudience].map(AssertionAudience.init(option:))
  }
}

extension AssertionAudience {
  /// Reads the value of `--assertion-audience`: one of three known words, or the audience itself.
  init(option text: String) {
    self =
      switch text {
      case "issuer": .issuer
      case "token-endpoint": .tokenEndpoint
      case "endpoint": .requestedEndpoint
      default: .other(text)
      }
  }

  /// The value of `--assertion-audience`.
  var option: String {
    switch self {
    case .issuer: "issuer"
    case .tokenEndpoint: "token-endpoint"
    case .requestedEndpoint: "endpoint"
    case .other(let name): name
    }
  }
}

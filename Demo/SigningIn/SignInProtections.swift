import SequencingOAuth

/// The protections of a sign-in beyond plain OAuth 2: a pushed request, bound tokens, a profile.
struct SignInProtections: Sendable, Equatable {
  static let options: [Option] = [.par, .dpop, .profile]

  /// Whether the request of a sign-in is pushed to the server before the browser opens.
  private(set) var pushesRequest = false
  /// Whether the tokens are bound to a key of the account.
  private(set) var usesDPoP = false
  private(set) var profile = SecurityProfile.standard

  /// The profiles by their names in the option.
  static let profileNames: [(option: String, profile: SecurityProfile)] = [
    ("fapi2", .fapi2), ("fapi2-signed", .fapi2MessageSigning),
  ]

  /// Reads the protections from the options.
  init(_ arguments: Arguments) throws(Failure) {
    pushesRequest = arguments.contains(.par)
    usesDPoP = arguments.contains(.dpop)
    guard let name = arguments[.profile] else { return }
    guard let found = Self.profileNames.first(where: { $0.option == name }) else {
      throw .usage(
        "\(Option.profile.name) takes \(Self.profileNames.map(\.option).joined(separator: " or ")), "
          + "not \"\(name.onScreen)\"" + Suggestion.question(name, among: Option.profile.choices))
    }
    profile = found.profile
  }

  /// Reads the protections from a client's configuration.
  init(_ client: ClientConfiguration) {
    pushesRequest = client.pushesAuthorizationRequests
    usesDPoP = client.tokenBinding != nil
    profile = client.profile
  }

  /// Returns these protections, together with the account's earlier protections.
  func completed(by earlier: SignInProtections) -> SignInProtections {
    var all = self
    all.pushesRequest = pushesRequest || earlier.pushesRequest
    all.usesDPoP = usesDPoP || earlier.usesDPoP
    if profile == .standard { all.profile = earlier.profile }
    return all
  }

  /// Pushes the requests of sign-ins, because the server demands it of the program's client.
  mutating func pushRequest() { pushesRequest = true }

  /// Binds the tokens to a key, because the server demands it.
  mutating func bindTokens() { usesDPoP = true }

  /// Whether the tokens are bound to a key, by an option or because the profile demands it.
  var bindsTokens: Bool { usesDPoP || profile != .standard }

  func apply(to client: inout ClientConfiguration) {
    client.pushesAuthorizationRequests = pushesRequest
    client.tokenBinding = usesDPoP ? .dpop() : nil
    client.profile = profile
  }
}

// The protections in the form of an account's attributes.
extension SignInProtections {
  /// The attributes of the protections that are on.
  var attributes: [KeptClient.Key: String] {
    var values: [KeptClient.Key: String] = [:]
    if pushesRequest { values[.pushesRequest] = "true" }
    if usesDPoP { values[.usesDPoP] = "true" }
    values[.profile] = profile.optionName
    return values
  }

  /// Reads the protections from attributes; ``KeptClient/checkLimits()`` rejects an unknown profile.
  init(_ attributes: [KeptClient.Key: String]) {
    pushesRequest = attributes[.pushesRequest] != nil
    usesDPoP = attributes[.usesDPoP] != nil
    let name = attributes[.profile]
    profile = Self.profileNames.first { $0.option == name }?.profile ?? .standard
  }
}

extension SecurityProfile {
  /// The value of `--profile`; `nil` for the standard, which needs no option.
  var optionName: String? {
    SignInProtections.profileNames.first { $0.profile == self }?.option
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The whole state of a sandbox, as a value that the endpoints read and change.
struct SandboxState {
  let issuer: String
  var options: SandboxOptions
  var ledger = TokenLedger()
  var browsers = BrowserSessions()
  var devices = DeviceAuthorizations()
  var registered = RegisteredClients()
  var keys = SigningKeys()
  /// What clients have signed, which each counts once.
  var usedAssertions = UsedAssertions()
  /// The logout tokens that wait to be sent to clients.
  var logoutNotices: [LogoutNotice] = []
  var drive = DriveState()
  var plan = MisbehaviourPlan()
  /// By how much the clock was moved.
  var advance: Duration = .zero

  init(issuer: String, options: SandboxOptions) {
    self.issuer = issuer
    self.options = options
  }

  var now: Date { options.now().addingTimeInterval(advance.timeInterval) }

  /// The scopes of a request that names none: all except those that make it an OpenID request.
  var defaultScopes: [String] {
    options.scopes.filter { !SandboxScope.openID.contains($0) }.map(\.name)
  }

  func user(_ name: String) -> SandboxUser? { options.users.first { $0.name == name } }

  func client(_ id: String) -> SandboxClient? { options.clients.first { $0.id == id } }

  /// The user with this name and password; an unknown name gives `nil` just as a wrong password
  /// does.
  func user(_ name: String, password: String) -> SandboxUser? {
    user(name).flatMap { $0.password == password ? $0 : nil }
  }

  /// The scopes of a request, or `nil` if it asks for an unknown scope.
  ///
  /// A missing or empty parameter means the default scopes, as far as the client may have them (RFC
  /// 6749, section 3.3).
  func scopes(_ parameter: String?, for client: SandboxClient) -> [String]? {
    let offered = options.scopes.map(\.name).filter { client.scopes?.contains($0) ?? true }
    let asked = (parameter ?? "").split(separator: " ").map(String.init)
    guard !asked.isEmpty else { return offered.filter(defaultScopes.contains) }
    guard asked.allSatisfy(offered.contains) else { return nil }
    return offered.filter(asked.contains)
  }
}

extension Duration {
  var timeInterval: TimeInterval {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}

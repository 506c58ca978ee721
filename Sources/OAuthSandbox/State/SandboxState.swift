import SQBasics
import SQFoundation

/// The complete state of a sandbox as a value that the endpoints read and change.
struct SandboxState {
  /// The beginning of every endpoint's address: `http://` with the host and the port.
  let address: String
  var options: SandboxOptions
  var ledger = TokenLedger()
  var browsers = BrowserSessions()
  var devices = DeviceAuthorizations()
  var pushed = PushedAuthorizations()
  /// The registrations of clients that registered themselves, by client ID.
  var registered: [String: RegisteredClient] = [:]
  var documents = ClientDocuments()
  var keys = SigningKeys()
  /// The identifiers of used assertions; each assertion is accepted only once.
  var usedAssertions = UsedIdentifiers()
  /// The identifiers of used proofs; each proof is accepted only once.
  var usedProofs = UsedIdentifiers()
  var proofNonces = ProofNonces()
  /// The logout tokens that are queued for clients.
  var logoutNotices: [LogoutNotice] = []
  var drive = DriveState()
  var plan = MisbehaviourPlan()
  let closures = TestClosures()
  /// The time that tests added to the clock.
  var advance: Duration = .zero

  init(address: String, options: SandboxOptions) {
    self.address = address
    self.options = options
  }

  /// The sandbox's address, with a trailing slash if the options ask for one.
  var issuer: String { address + (options.issuerEndsWithSlash ? "/" : "") }

  var now: Date { options.now().addingTimeInterval(advance / .seconds(1)) }

  /// The scopes of a request without scopes: all but ``SandboxScope/openID``.
  var defaultScopes: [String] {
    options.scopes.filter { !SandboxScope.openID.contains($0) }.map(\.name)
  }

  func user(_ name: String) -> SandboxUser? { options.users.first { $0.name == name } }

  func client(_ id: String) -> SandboxClient? {
    options.clients.first { $0.id == id } ?? documents.client(id)
  }

  /// Returns the user with this name and password, or `nil` if either is wrong.
  func user(_ name: String, password: String) -> SandboxUser? {
    user(name).flatMap { $0.password == password ? $0 : nil }
  }

  /// Returns the scopes of a request, and fails if a scope is unknown or forbidden to the client.
  ///
  /// A missing or empty parameter means the default scopes that the client may have (RFC 6749,
  /// section 3.3). A request with authorization details needs no scope, and then gets none.
  func scopes(
    _ parameter: String?, for client: SandboxClient, details: [SandboxJSON]
  ) throws(OAuthFault) -> [String] {
    guard parameter != nil || details.isEmpty else { return [] }
    let offered = options.scopes.map(\.name).filter { client.scopes?.contains($0) ?? true }
    let asked = (parameter ?? "").split(separator: " ").map(String.init)
    guard !asked.isEmpty else { return offered.filter(defaultScopes.contains) }
    guard asked.allSatisfy(offered.contains) else {
      throw .invalidScope("There is no such scope for this client.")
    }
    return offered.filter(asked.contains)
  }
}

// A test may write `.seconds(.max)` for "no limit". A time that far away would be no `Int`.
extension Duration {
  /// The duration in seconds, limited to a hundred years in either direction.
  var timeInterval: TimeInterval { signedSeconds }

  /// The ``timeInterval`` without its fraction.
  var wholeSeconds: Int { Int(timeInterval) }
}

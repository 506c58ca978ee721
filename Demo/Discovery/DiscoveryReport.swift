import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthDiscovery

/// What was found out about a resource, as text or JSON.
struct DiscoveryReport: Encodable {
  /// An authorization server that the resource names.
  struct Server: Encodable {
    let issuer: String
    let isUsed: Bool
    /// Why the server is used or not, in words.
    let reason: String
    let authorizationEndpoint: String?
    let tokenEndpoint: String?
    let registrationEndpoint: String?
    let deviceAuthorizationEndpoint: String?
  }

  /// The program's client at the server that the search selected.
  struct Client: Encodable {
    /// How the server knows the client: `by_hand`, `document` or `registration`.
    let way: String
    let clientId: String?
    /// Whether the client exists already.
    let exists: Bool
    /// The client, in words.
    fileprivate let words: String

    private enum CodingKeys: String, CodingKey {
      case way, clientId, exists
    }
  }

  /// The account that a call without `--account` uses, or the accounts from which the user must
  /// choose.
  struct Account {
    let ids: [String]
    /// Whether `sq-demo login` created these accounts, and not a call to the resource.
    let isOfLogin: Bool
  }

  private let address: String
  private let steps: [AskedAddresses.Step]
  /// The resource's identifier; `nil` if the resource has no metadata (RFC 9728).
  private let resource: String?
  private let resourceName: String?
  private let scopesSupported: [String]?
  private let authorizationServers: [String]?
  private let servers: [Server]
  private let client: Client?
  private let scope: String?
  private let binding: String?
  /// The name of the account that a call uses; `nil` if there is none, or if the call must name an
  /// account.
  private let account: String?
  /// The names of the accounts that are kept for the resource or fit its address.
  private let accounts: [String]
  private let choice: Account
  /// The first server's problem, if no server can be used; otherwise `nil`.
  let problem: SQOAuthError?
  /// Whether the server demanded a token for a request to the address.
  private let needsToken: Bool

  private enum CodingKeys: String, CodingKey {
    case address, steps, resource, resourceName, scopesSupported, authorizationServers, servers
    case client, scope, binding, account, accounts
  }

  /// Creates the report of a search; if `plan` is `nil`, the search ended before a server was
  /// known.
  init(
    _ address: String, _ plan: AccessPlan?, _ steps: [AskedAddresses.Step],
    _ choice: Account
  ) {
    let metadata = plan?.resource.metadata
    self.address = address
    self.steps = steps
    self.choice = choice
    accounts = choice.ids
    account = accounts.count == 1 ? accounts.first : nil
    resource = metadata?.resource
    resourceName = metadata?.name
    scopesSupported = metadata?.scopes
    authorizationServers = metadata?.authorizationServers
    let count = metadata?.authorizationServers.count ?? 0
    let tried = plan?.servers ?? []
    servers = tried.enumerated().map { Server($1, isFirst: $0 == 0, of: count) }
    client = plan?.server?.identity.map(Client.init)
    scope = plan?.scope
    binding = plan?.binding.map { _ in "dpop" }
    problem = client == nil ? tried.first?.problem : nil
    needsToken = steps.first?.status == 401
  }

  /// Whether a sign-in is possible.
  var isUsable: Bool { client != nil }

  /// The report as text, in the order of the search.
  var text: String {
    let sections = [
      ("Asked", steps.map(\.lines).joined(separator: "\n")),
      (
        "Resource",
        Fields.text([
          ("id", resource?.onScreen), ("name", resourceName?.onScreen),
          ("scopes", scopesSupported?.joined(separator: " ").onScreen ?? "not listed"),
        ])
      ), ("Authorization server", servers.map(\.lines).joined(separator: "\n")),
      ("This program", Self.wrapped(client?.words ?? "It cannot be a client there.")),
      ("A sign-in would ask for", question),
      (
        "Account",
        Self.wrapped(choice.words(needsToken: needsToken))
      ),
    ]
    return sections.filter { !$0.1.isEmpty }.map { "\($0):\n\($1)" }.joined(separator: "\n\n")
  }

  private var question: String {
    guard client != nil else { return "" }
    return Fields.text([
      ("scope", scope?.onScreen ?? "the server's default"),
      ("tokens", binding == nil ? "not bound to a key" : "bound to a key (DPoP)"),
    ])
  }

  /// Returns a sentence with a margin, in several lines if it is long.
  fileprivate static func wrapped(_ text: String, margin: String = "  ") -> String {
    TextLayout.wrap(text, width: TextLayout.width - margin.count).map { margin + $0 }
      .joined(separator: "\n")
  }
}

extension DiscoveryReport.Account {
  /// Returns a sentence about the accounts.
  func words(needsToken: Bool) -> String {
    guard ids.count <= 1 else {
      let names = ids.map(\.onScreen).joined(separator: ", ")
      return "Several are kept, so a call needs --account: \(names)."
    }
    guard let id = ids.first?.onScreen else {
      return needsToken
        ? "None is kept, so a call needs a sign-in."
        : "None is kept. This request needed no token, so 'sq-demo call' sends it as it is."
    }
    return isOfLogin
      ? "\(id), from 'sq-demo login', fits the address, so a call uses it as it is."
      : "\(id) is kept, so a call needs no sign-in."
  }
}

extension AskedAddresses.Step {
  /// The request, and its result below it.
  var lines: String {
    let status = status.map { "\($0), " } ?? ""
    return "  GET \(address.onScreen)\n"
      + DiscoveryReport.wrapped(status + result.onScreen, margin: "      ")
  }
}

extension DiscoveryReport.Server {
  fileprivate init(_ server: AccessPlan.Server, isFirst: Bool, of count: Int) {
    issuer = server.issuer
    isUsed = server.problem == nil
    authorizationEndpoint = server.metadata?.authorizationEndpoint?.absoluteString
    tokenEndpoint = server.metadata?.tokenEndpoint.absoluteString
    registrationEndpoint = server.metadata?.registrationEndpoint?.absoluteString
    deviceAuthorizationEndpoint = server.metadata?.deviceAuthorizationEndpoint?.absoluteString
    reason =
      if let problem = server.problem {
        problem.message
      } else if case .byHand? = server.identity, count > 1 {
        "an account of this program is there"
      } else if count == 1 {
        "the resource names no other"
      } else {
        isFirst ? "the first that the resource names" : "the first that can be used"
      }
  }

  fileprivate var lines: String {
    let devices = deviceAuthorizationEndpoint == nil ? "no" : "yes"
    let own = registrationEndpoint == nil ? "no" : "yes"
    let sentence = "\(isUsed ? "used" : "not used"): \(reason.onScreen)"
    let abilities = "programs register themselves: \(own); codes for other devices: \(devices)"
    return
      (["  " + issuer.onScreen]
      + [sentence, isUsed ? abilities : ""].filter { !$0.isEmpty }
      .map { DiscoveryReport.wrapped($0, margin: "      ") }).joined(separator: "\n")
  }
}

extension DiscoveryReport.Client {
  fileprivate init(_ identity: AccessPlan.Identity) {
    switch identity {
    case .byHand(let id):
      (way, clientId, exists) = ("by_hand", id, true)
      words = "It is \(id.onScreen), the client of an account from 'sq-demo login'."
    case .document(let address):
      (way, clientId, exists) = ("document", address, true)
      words = "It is the client that the document \(address.onScreen) describes."
    case .registered(let id):
      (way, clientId, exists) = ("registration", id, true)
      words = "It is \(id.onScreen), which it registered there before."
    case .willRegister(let address):
      (way, clientId, exists) = ("registration", nil, false)
      words = "It is not known there yet; a call registers it at \(address.onScreen)."
    }
  }
}

import SQBasics
import SQFoundation
import SequencingOAuth

/// An account of the store as text or JSON, without its secrets.
struct AccountReport: Encodable {
  private let account: String
  private let name: String?
  /// The account's authorization server, to show to the user.
  private let server: String?
  private let clientId: String
  /// The path of the file with the client's private key.
  private let clientKeyFile: String?
  private let profile: String?
  private let issuer: String?
  /// The identifier of the resource that the tokens are for.
  private let resource: String?
  private let tokenEndpoint: String?
  private let scope: String?
  private let expiresAt: String?
  private let expiresIn: Int?
  private let canRefresh: Bool
  /// When the user must sign in again; `nil` if the server did not say.
  private let signInEndsAt: String?
  /// The time until the user must sign in again, and the date when that time ends, in words.
  private let signInEnd: String?
  /// Whether the token is bound to a key of the account.
  private let bound: Bool
  /// The algorithm of the key that the token is bound to.
  private let proofAlgorithm: String?
  /// The binding of the token, in words.
  private let binding: String?
  /// Whether the user must sign in again before the account can be used.
  private let needsSignIn: Bool
  /// The command that signs the account in again; `nil` if it is signed in.
  private let signInCommand: String?
  /// The time when the token expires, in words.
  private let expiry: (name: String, value: String)

  private enum CodingKeys: String, CodingKey {
    case account, name, clientId, clientKeyFile, profile, issuer, resource, tokenEndpoint, scope
    case expiresAt, expiresIn, canRefresh, signInEndsAt, bound, proofAlgorithm, needsSignIn
  }

  init(_ record: AccountRecord, in store: StoreOptions, at date: Date) {
    let client = KeptClient(record)
    account = record.id
    name = client.name
    server = record.issuer ?? client.knownAddress ?? record.tokenEndpoint
    clientId = record.clientID
    clientKeyFile = client.keyFile
    profile = client.protections.profile.optionName
    issuer = record.issuer
    resource = client.identifiers.isEmpty ? nil : client.identifiers.joined(separator: " ")
    tokenEndpoint = record.tokenEndpoint
    scope = record.token.scope
    expiresAt = record.token.expirationDate?.formatted(.iso8601)
    expiresIn = record.token.secondsLeft(at: date)
    canRefresh = record.token.refreshToken != nil || record.grant != nil
    let end = record.grant == nil ? record.token.signInEnd : nil
    signInEndsAt = end?.formatted(.iso8601)
    signInEnd = end.map { "needed again \($0.momentInWords(from: date))" }
    bound = record.token.isBound
    proofAlgorithm = record.token.proofKey?.algorithm
    binding = record.token.bindingInWords
    let isSignedOut = record.token.accessToken.isEmpty
    needsSignIn = isSignedOut || !canRefresh && record.token.isExpired(at: date)
    signInCommand = isSignedOut ? store.signInCommand(record.id) : nil
    expiry = Self.expiry(record.token, at: date)
  }

  /// The account as text for the user, with its ID in the first line.
  var text: String {
    let client: [(name: String, value: String?)] = [
      ("name", name?.onScreen), ("client", clientId.onScreen), ("key", clientKeyFile?.onScreen),
      ("server", server?.onScreen ?? "not known"), ("resource", resource?.onScreen),
      ("profile", profile),
    ]
    return account.onScreen + "\n" + Fields.text(client + state)
  }

  /// The lines about the account's session: whether it can be used and refreshed.
  private var state: [(name: String, value: String?)] {
    if let signInCommand {
      return [("session", "ended; '\(signInCommand)' signs in again")]
    }
    return [
      ("scope", scope.map { $0.isEmpty ? "none" : $0.onScreen } ?? "not known"),
      ("token", binding), expiry,
      ("refresh", canRefresh ? "possible" : "not possible; sign in again instead"),
      ("sign-in", signInEnd),
    ]
  }

  private static func expiry(_ token: SQToken, at date: Date) -> (name: String, value: String) {
    guard let expirationDate = token.expirationDate else { return ("expires", "not known") }
    return token.isExpired(at: date)
      ? ("expired", "at \(expirationDate.formatted(.iso8601))")
      : ("expires", expirationDate.momentInWords(from: date))
  }
}

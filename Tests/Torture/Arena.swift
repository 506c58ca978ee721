import Foundation
import OAuthSandbox
import SequencingOAuth

/// One account in one store, which the crowd refreshes all the time.
struct Account: Hashable, Sendable, CustomStringConvertible {
  let store: StoreUnderTest
  let id: String

  var description: String { "\(id) in \(store.name)" }
  /// The sandbox's user, one for each account.
  var user: String { "\(store.name)-\(id)" }
}

/// A kind of store, on a small file system of its own.
struct StoreUnderTest: Hashable, Sendable {
  /// What `--store` and the probe call the kind.
  let name: String
  let folder: String

  var path: String { folder + "/tokens" }
  var address: String { "\(name):\(path)" }
  var isDatabase: Bool { name.contains("sqlite") }
}

/// Where it all happens: a server that rotates refresh tokens and detects reuse, the stores, and the
/// programs that use them, as another user where that is possible.
final class Arena: Sendable {
  static let issuesFor = "sandbox-app"
  /// The user that the programs run as: nobody.
  static let user = 65534

  let sandbox: SandboxServer
  let folder: String
  let stores: [StoreUnderTest]
  let accounts: [Account]
  let hasRights = getuid() == 0
  private let programs: String

  init(folder: String, tokenLifetime: Duration) async throws {
    self.folder = folder
    var options = SandboxOptions()
    options.accessTokenLifetime = tokenLifetime
    sandbox = try await SandboxServer.start(options)
    stores = ["file", "encrypted", "sqlite", "encrypted-sqlite"].map {
      StoreUnderTest(name: $0, folder: "\(folder)/\($0)")
    }
    accounts = stores.flatMap { store in ["a", "b", "c"].map { Account(store: store, id: $0) } }
    programs = "\(folder)/programs"
    try await prepare()
  }

  private func prepare() async throws {
    let files = FileManager.default
    let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    try files.createDirectory(atPath: programs, withIntermediateDirectories: true)
    for name in ["sq-demo", "store-probe"] {
      // Not where they were built, since another user may have no way there.
      try files.copyItem(
        atPath: built.appending(path: name).path, toPath: "\(programs)/\(name)")
    }
    for store in stores {
      try files.createDirectory(atPath: store.folder, withIntermediateDirectories: false)
      guard hasRights else { continue }
      try await Run.succeeds([
        "mount", "-t", "tmpfs", "-o", "size=2m,mode=0700,uid=\(Self.user)", "tmpfs", store.folder,
      ])
    }
    for account in accounts { try await signIn(account) }
  }

  /// Puts new tokens into the store, as a sign-in does.
  func signIn(_ account: Account) async throws {
    let tokens = sandbox.issueTokens(to: Self.issuesFor, for: account.user)
    let record = AccountRecord(
      id: account.id, clientID: Self.issuesFor, issuer: sandbox.issuer.absoluteString,
      session: UUID().uuidString,
      token: SQToken(
        accessToken: tokens.accessToken, expirationDate: Date() - 1,
        refreshToken: tokens.refreshToken, issueDate: Date() - 3600))
    let input = "\(folder)/input-\(UUID().uuidString)"
    try JSONEncoder().encode(record).write(to: URL(filePath: input))
    defer { unlink(input) }
    try await Run.succeeds(
      ["bash", "-c", #"exec "$@" <"$0""#, input]
        + ["\(programs)/store-probe"] + (hasRights ? ["--user", "\(Self.user)"] : [])
        + [account.store.address, "save"])
  }

  /// Whether a refresh token was issued to an account.
  func owns(_ account: Account, _ token: String) -> Bool {
    let latest = sandbox.latestRefreshToken(inFamilyOf: token)
    return latest != nil && latest == sandbox.latestRefreshToken(for: account.user)
  }

  /// The command that asks for an account's token.
  func command(_ account: Account) -> [String] {
    asUser([
      "\(programs)/sq-demo", "token", "--store", account.store.address, "--account", account.id,
    ])
  }

  /// A command that the user runs whose the stores are.
  func asUser(_ command: [String]) -> [String] {
    (hasRights ? ["setpriv", "--reuid=\(Self.user)", "--clear-groups"] : []) + command
  }
}

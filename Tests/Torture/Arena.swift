import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth

/// The environment of the torture test: a server, the stores, and the programs that use them.
///
/// The server rotates refresh tokens and detects reuse. The programs run as another user if
/// possible.
final class Arena: Sendable {
  static let issuesFor = "sandbox-app"
  /// The user that the programs run as: the system's user `nobody`.
  static let user = 65534

  let sandbox: SandboxServer
  let folder: String
  let stores: [StoreUnderTest]
  let accounts: [Account]
  let hasRights = getuid() == 0
  /// The address of the session bus with a keyring, which `Scripts/torture` starts.
  private let bus: String?
  private let programs: String

  init(folder: String, tokenLifetime: Duration) async throws {
    self.folder = folder
    var options = SandboxOptions()
    options.accessTokenLifetime = tokenLifetime
    sandbox = try await SandboxServer.start(options)
    bus = ProcessInfo.processInfo.environment["SQ_TORTURE_BUS"]
    let kinds = ["file", "encrypted", "sqlite", "encrypted-sqlite"]
    stores = (kinds + (bus == nil ? [] : [StoreUnderTest.keyring])).map {
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
      // The programs are copied, because another user may not be able to reach the build folder.
      try files.copyItem(
        atPath: built.appending(path: name).path, toPath: "\(programs)/\(name)")
    }
    for store in stores {
      try files.createDirectory(atPath: store.folder, withIntermediateDirectories: false)
      // The keyring's folder keeps its owner: the keyring belongs to the user who runs the torture
      // test.
      guard hasRights, !store.isKeyring else { continue }
      try await Run.succeeds([
        "mount", "-t", "tmpfs", "-o", "size=2m,mode=0700,uid=\(Self.user)", "tmpfs", store.folder,
      ])
    }
    for account in accounts { try await signIn(account) }
  }

  /// Saves new tokens in the store, as a sign-in does.
  func signIn(_ account: Account) async throws {
    let tokens = sandbox.issueTokens(to: Self.issuesFor, for: account.user)
    let record = AccountRecord(
      id: account.id, clientID: Self.issuesFor, issuer: sandbox.issuer.absoluteString,
      session: UUID().uuidString,
      token: SQToken(
        accessToken: tokens.accessToken, expirationDate: Date() - 1,
        refreshToken: tokens.refreshToken, issueDate: Date() - 3600))
    if let bus, account.store.isKeyring {
      return try await account.store.openKeyring(bus: bus).save(record)
    }
    let input = "\(folder)/input-\(UUID().uuidString)"
    try JSONEncoder().encode(record).write(to: URL(filePath: input))
    defer { unlink(input) }
    try await Run.succeeds(
      ["bash", "-c", #"exec "$@" <"$0""#, input]
        + ["\(programs)/store-probe"] + (hasRights ? ["--user", "\(Self.user)"] : [])
        + [account.store.option, "save"])
  }

  /// Returns the command that prints an account's token.
  func command(_ account: Account) -> [String] {
    let command = [
      "\(programs)/sq-demo", "token", "--store", account.store.option, "--account", account.id,
    ]
    guard let bus, account.store.isKeyring else { return asUser(command) }
    let session = "DBUS_SESSION_BUS_ADDRESS=\(bus)"
    return ["env", session, "XDG_STATE_HOME=\(account.store.folder)"] + command
  }

  /// The stores whose files the saboteur can break.
  var onDisk: [StoreUnderTest] { stores.filter { !$0.isKeyring } }
  /// Whether there is a keyring.
  var hasKeyring: Bool { bus != nil }

  /// Returns the process ID of the keyring.
  func keyring() async throws -> pid_t {
    let answer = await
      (try Run([
        "env", "DBUS_SESSION_BUS_ADDRESS=\(bus ?? "")", "dbus-send", "--session", "--print-reply",
        "--dest=org.freedesktop.DBus", "/",
        "org.freedesktop.DBus.GetConnectionUnixProcessID", "string:org.freedesktop.secrets",
      ])).outcome()
    guard let word = answer.output.split(separator: " ").last,
      let number = pid_t(word.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw Run.Failed(description: answer.errors) }
    return number
  }

  /// Returns a command that runs as the user who owns the stores.
  func asUser(_ command: [String]) -> [String] {
    (hasRights ? ["setpriv", "--reuid=\(Self.user)", "--clear-groups"] : []) + command
  }
}

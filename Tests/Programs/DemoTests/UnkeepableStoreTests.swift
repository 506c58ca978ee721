import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// A store that cannot save a new token, before a refresh and during it.
@Suite(.timeLimit(.minutes(5))) struct `A store that cannot save the next token` {
  /// A fault of the store's folder.
  enum Trouble: String, CaseIterable {
    case fullDisk, readOnlyMount, folderWithoutWriting, locksUnusable

    /// A command that causes the fault and then runs the program.
    ///
    /// The store's folder is in `$1`, and the program's command line follows.
    var starter: [String] {
      switch self {
      case .fullDisk:
        Self.mounting(
          """
          cp -a "$folder" "$folder.kept"; mount -t tmpfs -o size=1m,mode=0700 tmpfs "$folder"
          cp -a "$folder.kept/." "$folder"; cat /dev/zero >"$folder/filler" 2>/dev/null || true
          """)
      case .readOnlyMount:
        Self.mounting(
          #"mount --bind "$folder" "$folder"; mount -o remount,ro,bind "$folder""#)
      case .folderWithoutWriting:
        [
          "bash", "-c",
          """
          folder=$1; shift; mkdir -p "$folder/tokens.locks"; chown -R 65534 "$folder"
          chmod 0555 "$folder"
          exec setpriv --reuid=65534 --clear-groups "$@"
          """, "bash",
        ]
      case .locksUnusable:
        [
          "bash", "-c",
          #"folder=$1; shift; rm -rf "$folder"/*.locks; touch "$folder/tokens.locks"; exec "$@""#,
          "bash",
        ]
      }
    }

    private static func mounting(_ script: String) -> [String] {
      [
        "unshare", "--mount", "bash", "-c", "set -e; folder=$1; shift; \(script); exec \"$@\"",
        "bash",
      ]
    }
  }

  static let isAllowed: @Sendable () async throws -> Bool = {
    let folder = try TemporaryFolder()
    return try await ChildProcess.run(
      ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", folder.path]
    ).status == 0
  }

  @Test(
    .requires("the right to mount a file system", isAllowed),
    arguments: DemoStore.all, Trouble.allCases)
  func `if the store cannot save, no refresh is sent, and the account stays signed in`(
    store: DemoStore, trouble: Trouble
  ) async throws {
    let folder = try TemporaryFolder()
    let sandbox = try await SandboxServer.start()
    let path = store.path(folder)
    let old = try await store.open(path).keepExpiredAccount(at: sandbox)
    let outcome = try await DemoProcess.run(
      ["token"] + store.options(folder), in: folder,
      starter: trouble.starter + [folder.file("deep")], environment: store.environment)
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.firstError.hasPrefix("error: store_failed: "), "\(outcome.errors)")
    #expect(
      outcome.errors.contains(folder.file("deep")), "the error names the path: \(outcome.errors)")
    #expect(sandbox.requests(to: .token).isEmpty, "the refresh token was not sent")
    try Self.mend(folder.file("deep"))
    let again = try await DemoProcess.run(
      ["token"] + store.options(folder), in: folder, environment: store.environment)
    #expect(again.status == 0, "\(again.errors)")
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.open(path).load("default")?.token.refreshToken == latest)
    #expect(sandbox.refreshTokenReuses == 0)
    await sandbox.stop()
  }

  /// Starts a command, and moves the store's folder, with the space reserved for the new token, away
  /// during the command's token request.
  private static func start(
    _ command: [String], in folder: TemporaryFolder, losingStoreAt sandbox: SandboxServer
  ) async throws -> DemoProcess {
    let answer = Gate(isOpen: false)
    sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let demo = try DemoProcess(command + DemoStore.file.options(folder), in: folder)
    try await answer.isHolding()
    try FileManager.default.moveItem(
      atPath: folder.file("deep"), toPath: folder.file("elsewhere"))
    try Data().write(to: URL(filePath: folder.file("deep")))
    answer.open()
    return demo
  }

  @Test(arguments: [["token"], ["call", "GET", "/api/me"], ["files", "--drive", "/api/drive"]])
  func `if a refreshed token cannot be saved, the command ends with status 4`(command: [String])
    async throws
  {
    let folder = try TemporaryFolder()
    let store = DemoStore.file
    let sandbox = try await SandboxServer.start()
    try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let demo = try await Self.start(command, in: folder, losingStoreAt: sandbox)
    let outcome = await demo.outcome()
    #expect(outcome.status == 4, "\(outcome.errors)")
    #expect(outcome.errors.contains("error: not_kept: the newest token could not be kept: store_f"))
    #expect(outcome.errors.contains("Sign in again with 'sq-demo login"))
    // The program still printed its result. The list of files is empty, because the drive is empty.
    #expect(outcome.output.isEmpty == (command[0] == "files"))
    await sandbox.stop()
  }

  /// `call` has made the account for the resource, so `call` finds it by the URL.
  @Test func `if a call's refreshed token cannot be saved, the server's answer is printed first`()
    async throws
  {
    let folder = try TemporaryFolder()
    let store = DemoStore.file
    let sandbox = try await SandboxServer.start()
    let call = ["call", sandbox.url(.me).absoluteString]
    let first = try await DemoProcess.run(
      call + store.options(folder) + ["--browser", "sandbox"], in: folder)
    #expect(first.status == 0, "\(first.errors)")
    try await store.open(store.path(folder)).expire(sandbox.issuer.absoluteString)
    let demo = try await Self.start(call, in: folder, losingStoreAt: sandbox)
    let outcome = await demo.outcome()
    #expect(outcome.status == 4, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix(#"{"user_name":"alice","#))
    #expect(outcome.errors.contains("error: not_kept: the newest token could not be kept: store_f"))
    await sandbox.stop()
  }

  /// A disk may be full for some seconds, or a mount may come back.
  @Test func `a refreshed token is saved when a store that failed works again`() async throws {
    let folder = try TemporaryFolder()
    let store = DemoStore.file
    let sandbox = try await SandboxServer.start()
    let old = try await store.open(store.path(folder)).keepExpiredAccount(at: sandbox)
    let demo = try await Self.start(["token"], in: folder, losingStoreAt: sandbox)
    try await eventually("the program waits for the store") {
      demo.errors.contains("for the store to save its token")
    }
    // A running program could create the folder itself while there is nothing in its place.
    try await demo.freeze()
    let files = FileManager.default
    try files.removeItem(atPath: folder.file("deep"))
    try files.moveItem(atPath: folder.file("elsewhere"), toPath: folder.file("deep"))
    demo.send(SIGCONT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome.errors)")
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.open(store.path(folder)).load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  private static func mend(_ folder: String) throws {
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: folder) {
      try files.setAttributes(
        [.ownerAccountID: Int(getuid())], ofItemAtPath: "\(folder)/\(name)")
    }
    try files.setAttributes(
      [.ownerAccountID: Int(getuid()), .posixPermissions: 0o700], ofItemAtPath: folder)
    for locks in ["tokens.locks"] {
      try? files.removeItem(atPath: "\(folder)/\(locks)")
    }
  }
}

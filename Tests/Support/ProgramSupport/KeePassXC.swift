import Foundation
import TestSupport

/// KeePassXC as the keyring of a private session, with default settings and a separate display.
///
/// KeePassXC asks the user before a program reads an item.
package final class KeePassXC: Sendable {
  /// The user's database when the program starts.
  package enum Start: Sendable {
    case openDatabase, lockedDatabase, noDatabase
  }

  private let display: PrivateDisplay
  private let program: ChildProcess
  private let user: ChildProcess
  private let environment: [String: String?]

  /// Starts the program, with a simulated user who allows every access and, after the start, never
  /// unlocks the database.
  package init(on desktop: PrivateDesktop, _ start: Start = .openDatabase) async throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    display = try await PrivateDisplay()
    environment = desktop.environment.merging([
      "DISPLAY": display.name, "XDG_CONFIG_HOME": folder.path,
      "XDG_CACHE_HOME": folder.file("cache"),
      // KeePassXC starts only once for each `TMPDIR`, where it leaves a lock file.
      "TMPDIR": folder.path,
    ]) { $1 }
    try Self.write(Self.settings, to: folder.file("keepassxc.ini"))
    try await Self.makeDatabase("tokens", in: folder)
    let database = start == .noDatabase ? [] : [folder.file("tokens.kdbx")]
    program = try PrivateDesktop.start(
      Self.command(in: folder) + database, environment: environment)
    user = try PrivateDesktop.start(["bash", "-c", Self.user], environment: environment)
    try await eventually("KeePassXC is there") { try await desktop.hasKeyring() }
    if start == .openDatabase { try await unlock(desktop) }
  }

  private let folder: TemporaryFolder

  /// The number of times that the user was asked to let a program read an item.
  package var questions: Int { lines("asked") }
  /// The number of times that the user was asked for the database's password and gave none.
  ///
  /// All questions use the same window. If a question comes before the previous one is counted,
  /// both count as one, so a test calls ``isRefused(_:)`` between them.
  package var refusals: Int { lines("refused") }

  private func lines(_ word: String) -> Int {
    user.output.split(separator: "\n").count { $0 == word }
  }

  /// Waits until no question is on the screen; ``questions`` and ``refusals`` then count all
  /// earlier ones.
  package func hasNoQuestion() async throws {
    let before = lines("nothing")
    // The first new line may be about a look at the screen before this call. The second line is
    // about a later look.
    try await eventually("the user sees no question") { lines("nothing") >= before + 2 }
  }

  /// Waits until the user has refused this number of questions.
  ///
  /// The next question then counts as a new one.
  package func isRefused(_ count: Int) async throws {
    try await eventually("question \(count) is refused") { refusals == count }
  }

  /// Locks the database as the user does with the keyboard.
  package func lock(_ desktop: PrivateDesktop) async throws {
    try await eventually("the database is locked") {
      _ = try await ChildProcess.run(
        ["bash", "-c", Self.lock], environment: environment)
      return try await isLocked("collection/tokens", desktop) == true
    }
  }

  /// Creates another database, opens it in front of the first one, and unlocks it on request.
  package func openAnotherDatabase(_ desktop: PrivateDesktop, unlocked: Bool) async throws {
    try await Self.makeDatabase("other", in: folder)
    try await openDatabase("other", desktop)
    if unlocked { try await unlock(desktop) }
  }

  /// Closes the database as the user does, so that KeePassXC has none.
  package func closeDatabase(_ desktop: PrivateDesktop) async throws {
    try await eventually("the database is closed") {
      let program = "org.keepassxc.KeePassXC.MainWindow"
      _ = try await desktop.send(program, "/keepassxc", "\(program).closeAllDatabases", [])
      return try await isLocked("collection/tokens", desktop) == nil
    }
  }

  /// Opens the database again after ``closeDatabase(_:)``.
  package func reopenDatabase(_ desktop: PrivateDesktop) async throws {
    try await openDatabase("tokens", desktop)
    try await unlock(desktop)
  }

  /// Opens a database, still locked, in front of any other.
  private func openDatabase(_ name: String, _ desktop: PrivateDesktop) async throws {
    // The program that already runs opens the file, and this one ends.
    let second = try await ChildProcess.run(
      Self.command(in: folder) + [folder.file("\(name).kdbx")], environment: environment)
    guard second.status == 0 else { throw ChildProcessError(message: second.errors) }
    try await eventually("the database is in front") {
      try await desktop.call(
        "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias", "string:default"
      ).contains("collection/\(name)")
    }
  }

  /// Types the database's password.
  ///
  /// KeePassXC 2.7.10 crashes if it gets the password by its option `--pw-stdin`.
  private func unlock(_ desktop: PrivateDesktop) async throws {
    try await eventually("the database is open") {
      _ = try await ChildProcess.run(
        ["bash", "-c", Self.unlock], environment: environment)
      return try await isLocked("aliases/default", desktop) == false
    }
  }

  /// Returns whether a database is locked, or `nil` if there is none.
  private func isLocked(_ path: String, _ desktop: PrivateDesktop) async throws -> Bool? {
    let answer = try await desktop.call(
      "/org/freedesktop/secrets/\(path)", "org.freedesktop.DBus.Properties.Get",
      "string:org.freedesktop.Secret.Collection", "string:Locked")
    return answer.contains("boolean ") ? answer.contains("boolean true") : nil
  }

  /// Ends all the programs.
  package func stop() async {
    await user.stop()
    await program.stop()
    await display.stop()
  }

  private static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  private static func command(in folder: TemporaryFolder) -> [String] {
    ["keepassxc", "--config", folder.file("keepassxc.ini")]
  }

  private static func makeDatabase(_ name: String, in folder: TemporaryFolder) async throws {
    try write(database, to: folder.file("tokens.xml"))
    let result = try await ChildProcess.run(
      [
        "keepassxc-cli", "import", "-q", "-p", "-t", "100", folder.file("tokens.xml"),
        folder.file("\(name).kdbx"),
      ],
      environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path],
      input: .text("password\npassword\n"))
    guard result.status == 0 else {
      throw ChildProcessError(
        message: "keepassxc-cli made no database: \(result.output)\(result.errors)")
    }
  }

  /// The user's settings, which turn on the integration with other programs; it is off by default.
  ///
  /// KeePassXC 2.7 sometimes crashes if it gets another item while it writes its file. No person is
  /// fast enough to see this, so with these settings it writes the file at the end. Everything else
  /// has its default.
  private static let settings = """
    [General]
    ConfigVersion=2
    UpdateCheckMessageShown=true
    AutoSaveAfterEveryChange=false
    [FdoSecrets]
    Enabled=true
    [GUI]
    CheckForUpdates=false
    """

  /// A script that answers each question when its window appears, and writes a line.
  ///
  /// It also writes a line after each look at the screen that finds no question.
  private static let user = #"""
    answer() {
      for window in $(xdotool search --onlyvisible --name "$1" 2>/dev/null); do
        sight=something
        xdotool windowfocus --sync "$window" key "$2" 2>/dev/null || continue
        for _ in {1..50}; do
          xdotool search --onlyvisible --name "$1" 2>/dev/null | grep -qx "$window" || break
          sleep 0.02
        done
        xdotool search --onlyvisible --name "$1" 2>/dev/null | grep -qx "$window" || echo "$3"
      done
    }
    while :; do
      sight=nothing
      answer "Access Request" Return asked
      answer "Unlock Database" Escape refused
      [ "$sight" = something ] || echo "$sight"
      sleep 0.05
    done
    """#

  private static let lock = #"""
    for window in $(xdotool search --onlyvisible --name "KeePassXC$"); do
      xdotool windowfocus --sync "$window" key ctrl+l
    done
    """#

  /// A script that types the password into each locked window.
  ///
  /// The script then waits until no window is locked. If it ended earlier, the next run could type
  /// the password into an unlocked window.
  private static let unlock = #"""
    locked() { xdotool search --onlyvisible --name "Locked.*KeePassXC$"; }
    for window in $(locked); do
      xdotool windowfocus --sync "$window" key ctrl+a p a s s w o r d Return
    done
    for _ in {1..250}; do
      locked >/dev/null || break
      sleep 0.02
    done
    """#

  /// A database whose only group is visible to programs.
  private static let database = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <KeePassFile>
      <Meta>
        <DatabaseName>Tokens</DatabaseName>
        <RecycleBinEnabled>True</RecycleBinEnabled>
        <CustomData>
          <Item>
            <Key>FDO_SECRETS_EXPOSED_GROUP</Key>
            <Value>{6b1f2a3c-4d5e-4f60-8a7b-9c0d1e2f3a4b}</Value>
          </Item>
        </CustomData>
      </Meta>
      <Root>
        <Group>
          <UUID>ax8qPE1eT2CKe5wNHi86Sw==</UUID>
          <Name>Root</Name>
          <Times>
            <CreationTime>2026-01-01T00:00:00Z</CreationTime>
            <LastModificationTime>2026-01-01T00:00:00Z</LastModificationTime>
          </Times>
        </Group>
      </Root>
    </KeePassFile>
    """
}

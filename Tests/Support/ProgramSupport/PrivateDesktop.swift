package import Foundation
import SQBasics
package import TestSupport
import Testing

/// A private D-Bus session for a test, with GNOME Keyring if the test needs it.
///
/// Programs reach it only at ``address``, so the user's own session is not changed.
package final class PrivateDesktop: Sendable {
  /// The value of `DBUS_SESSION_BUS_ADDRESS` for this session.
  package let address: String
  private let folder: TemporaryFolder
  private let bus: Locked<ChildProcess>
  private let keyring = Locked<ChildProcess?>(nil)

  /// Starts a session in an empty folder; the session ends with ``stop()`` or when its last
  /// reference is released.
  package init(in folder: TemporaryFolder? = nil, keyring: Bool = false) async throws {
    self.folder = try folder ?? TemporaryFolder()
    for name in ["run", "home", "data"] {
      try FileManager.default.createDirectory(
        atPath: self.folder.file(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    address = Self.address(in: self.folder)
    // The system's own configuration would start a keyring as soon as a program asks for it.
    try Self.configuration(address)
      .write(toFile: self.folder.file("bus.conf"), atomically: false, encoding: .utf8)
    bus = Locked(try await Self.startBus(in: self.folder))
    if keyring { try await startKeyring() }
  }

  private static func startBus(in folder: TemporaryFolder) async throws -> ChildProcess {
    let bus = try start([
      "dbus-daemon", "--config-file=\(folder.file("bus.conf"))", "--nofork", "--nopidfile",
      "--print-address=1",
    ])
    _ = try await bus.line(after: "unix:")
    return bus
  }

  /// Returns the address of a D-Bus session bus whose socket is in a folder.
  package static func address(in folder: TemporaryFolder) -> String {
    "unix:path=\(folder.file("bus"))"
  }

  /// The variables that make a program part of this session.
  package var environment: [String: String?] {
    [
      "DBUS_SESSION_BUS_ADDRESS": address, "HOME": folder.file("home"),
      "XDG_DATA_HOME": folder.file("data"), "XDG_RUNTIME_DIR": folder.file("run"),
      "XDG_STATE_HOME": folder.file("state"), "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
    ]
  }

  /// Starts the keyring with its earlier content, locked if `unlocked` is `false`.
  package func startKeyring(unlocked: Bool = true) async throws {
    let daemon = "exec gnome-keyring-daemon --foreground --components=secrets"
    let process = try Self.start(
      ["bash", "-c", unlocked ? "printf password | (\(daemon) --unlock)" : daemon],
      environment: environment)
    keyring.withLock { $0 = process }
    try await eventually("the keyring is \(unlocked ? "open" : "there")") {
      let state = try await call(
        "/org/freedesktop/secrets/aliases/default", "org.freedesktop.DBus.Properties.Get",
        "string:org.freedesktop.Secret.Collection", "string:Locked")
      return unlocked ? state.contains("boolean false") : try await hasKeyring()
    }
  }

  /// Kills the keyring, as a crash would.
  package func killKeyring() async throws {
    keyring.withLock { keyring in
      keyring?.signal(SIGKILL)
      keyring = nil
    }
    try await eventually("the keyring is gone") { try await !hasKeyring() }
  }

  /// Suspends the keyring's process until ``thawKeyring()``.
  package func freezeKeyring() async throws {
    try await keyring.withLock(\.self)?.freeze()
  }

  /// Continues the keyring after ``freezeKeyring()``.
  package func thawKeyring() {
    keyring.withLock(\.self)?.signal(SIGCONT)
  }

  /// Returns the content of each of the keyring's files.
  package func keyringFiles() throws -> [Data] {
    let keyrings = folder.file("data/keyrings")
    return try FileManager.default.contentsOfDirectory(atPath: keyrings).map { name in
      try Data(contentsOf: URL(filePath: "\(keyrings)/\(name)"))
    }
  }

  /// Kills the bus, which ends all programs on it.
  package func killBus() async throws {
    let bus = bus.withLock(\.self)
    bus.signal(SIGKILL)
    try await eventually("the bus is gone") { !bus.isRunning }
  }

  /// Starts the bus again after ``killBus()``, at its old address and without programs on it.
  package func restartBus() async throws {
    try FileManager.default.removeItem(atPath: folder.file("bus"))
    let process = keyring.withLock { keyring in
      defer { keyring = nil }
      return keyring
    }
    await process?.stop()
    let new = try await Self.startBus(in: folder)
    bus.withLock { $0 = new }
  }

  /// Ends the keyring and the bus; the files stay until their folder is released.
  ///
  /// Records an issue if the keyring has ended by itself, as it does after a failed assertion.
  package func stop() async {
    let bus = bus.withLock(\.self)
    if let keyring = keyring.withLock(\.self) {
      if bus.isRunning, await (try? hasKeyring()) != true {
        Issue.record("the keyring has ended: \(keyring.errors)")
      }
      await keyring.stop()
    }
    await bus.stop()
  }

  /// Calls a method of the keyring, and returns the answer in the format of `dbus-send`.
  ///
  /// The answer is empty if the keyring rejects the call.
  package func call(_ path: String, _ method: String, _ arguments: String...) async throws
    -> String
  {
    try await send("org.freedesktop.secrets", path, method, arguments)
  }

  /// Whether KWallet has a wallet.
  var hasWallet: Bool {
    FileManager.default.fileExists(atPath: folder.file("data/kwalletd/kdewallet.kwl"))
  }

  func hasKeyring() async throws -> Bool { try await hasOwner("org.freedesktop.secrets") }

  /// Returns whether a program on the bus has a name.
  func hasOwner(_ name: String) async throws -> Bool {
    try await send(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner",
      ["string:\(name)"]
    ).contains("boolean true")
  }

  /// Calls a method of any program on the bus.
  ///
  /// The answer is empty if the program rejects the call.
  func send(
    _ name: String, _ path: String, _ method: String, _ arguments: [String]
  ) async throws -> String {
    try await ChildProcess.run(
      ["dbus-send", "--bus=\(address)", "--print-reply", "--dest=\(name)", path, method]
        + arguments
    ).output
  }

  /// Starts a program that ends with this process, or earlier.
  static func start(
    _ command: [String], environment: [String: String?] = [:]
  ) throws -> ChildProcess {
    try ChildProcess(
      ["bash", "-c", "trap 'kill 0' EXIT; \"$@\" </dev/null & read -r _", "bash"] + command,
      environment: environment, input: .open)
  }

  private static func configuration(_ address: String) -> String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>\(address)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>
    """
  }
}

import Basics
package import Foundation

/// A D-Bus session of its own for a test, with GNOME Keyring on it where the test wants one.
///
/// Programs reach it by ``address`` alone; nothing of the user's own session is touched.
package final class PrivateDesktop: Sendable {
  /// What `DBUS_SESSION_BUS_ADDRESS` says in this session.
  package let address: String
  private let folder: TemporaryFolder
  private let bus: ChildProcess
  private let keyring = Locked<ChildProcess?>(nil)

  /// Starts a session in an empty folder; ``stop()`` ends it, and so does letting go of it.
  package init(in folder: TemporaryFolder? = nil, keyring: Bool = false) async throws {
    self.folder = try folder ?? TemporaryFolder()
    for name in ["run", "home", "data"] {
      try FileManager.default.createDirectory(
        atPath: self.folder.file(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    address = Self.address(in: self.folder)
    // The system's own configuration would start a keyring for whoever asks for one.
    try Self.configuration(address)
      .write(toFile: self.folder.file("bus.conf"), atomically: false, encoding: .utf8)
    bus = try Self.start([
      "dbus-daemon", "--config-file=\(self.folder.file("bus.conf"))", "--nofork", "--nopidfile",
      "--print-address=1",
    ])
    _ = try await bus.line(after: "unix:")
    if keyring { try await startKeyring() }
  }

  /// The address that a session in a folder has.
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

  /// Starts the keyring, which has what it had before; one that is not unlocked stays locked.
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

  /// Ends the keyring as a crash does.
  package func killKeyring() async throws {
    keyring.withLock { keyring in
      keyring?.signal(SIGKILL)
      keyring = nil
    }
    try await eventually("the keyring is gone") { try await !hasKeyring() }
  }

  /// Has the keyring stop working without its end, or go on.
  package func freezeKeyring(_ frozen: Bool = true) {
    keyring.withLock { $0?.signal(frozen ? SIGSTOP : SIGCONT) }
  }

  /// Starts a program that is asked to ask the user, and never answers; it is the caller's to stop.
  package func startMutePrompter() async throws -> ChildProcess {
    let name = "org.gnome.keyring.SystemPrompter"
    let prompter = try Self.start(
      ["dbus-test-tool", "black-hole", "--session", "--name=\(name)"], environment: environment)
    try await eventually("somebody offers to ask") { try await hasOwner(name) }
    return prompter
  }

  /// What the keyring has on disk.
  package func keyringFiles() throws -> [Data] {
    let keyrings = folder.file("data/keyrings")
    return try FileManager.default.contentsOfDirectory(atPath: keyrings).map { name in
      try Data(contentsOf: URL(filePath: "\(keyrings)/\(name)"))
    }
  }

  /// Ends the bus, and with it whatever is on it.
  package func killBus() async throws {
    bus.signal(SIGKILL)
    try await eventually("the bus is gone") { !bus.isRunning }
  }

  /// Ends everything and removes the files.
  package func stop() async {
    let process = keyring.withLock { $0 }
    await process?.stop()
    await bus.stop()
  }

  /// What the keyring answers a method call in `dbus-send`'s words, or nothing where it refuses.
  package func call(_ path: String, _ method: String, _ arguments: String...) async throws
    -> String
  {
    try await send("org.freedesktop.secrets", path, method, arguments)
  }

  private func hasKeyring() async throws -> Bool { try await hasOwner("org.freedesktop.secrets") }

  private func hasOwner(_ name: String) async throws -> Bool {
    try await send(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner",
      ["string:\(name)"]
    ).contains("boolean true")
  }

  private func send(
    _ name: String, _ path: String, _ method: String, _ arguments: [String]
  ) async throws -> String {
    try await ChildProcess.run(
      ["dbus-send", "--bus=\(address)", "--print-reply", "--dest=\(name)", path, method]
        + arguments
    ).output
  }

  /// Starts a program that ends, at the latest, when this process does.
  private static func start(
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

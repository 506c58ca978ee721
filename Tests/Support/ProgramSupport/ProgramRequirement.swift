import Foundation
import TestSupport
package import Testing

/// The programs that a test needs and a machine may lack.
package struct ProgramRequirement: Sendable {
  /// The names of programs that must be in `PATH`, in a system folder or in PostgreSQL's folder.
  package let programs: [String]

  package init(programs: [String]) {
    self.programs = programs
  }

  package static let chromium = Self(programs: [NewSession.program, "chromedriver", "bash"])
  package static let glewlwyd = Self(
    programs: ["glewlwyd", "bash", "curl", "jq", "rnbyc", "sqlite3"])
  package static let keyring = Self(
    programs: ["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool", "bash"])
  /// A keyring that shows a prompt, and a user who can answer it.
  package static let passwordPrompt = Self(
    programs: keyring.programs + ["gcr-prompter", "Xvfb", "xdotool"])
  package static let keePassXC = Self(
    programs: keyring.programs + ["keepassxc", "keepassxc-cli", "Xvfb", "xdotool"])
  package static let kWallet = Self(programs: keyring.programs + [KWallet.name])
  package static let nginx = Self(programs: ["nginx", "openssl", "sh"])
  package static let pgbouncer = Self(programs: postgreSQL.programs + ["pgbouncer"])
  package static let postgreSQL = Self(
    programs: ["initdb", "pg_basebackup", "postgres", "psql", "ipcrm", "setpriv", "sh"])
  package static let faketime = Self(programs: ["faketime"])
  package static let qrencode = Self(programs: ["qrencode"])
  package static let systemd = Self(programs: ["systemd-analyze"])
  package static let tmux = Self(programs: ["tmux"])
  /// A text browser, and a terminal for it.
  package static let textBrowser = Self(programs: ["tmux", "w3m", "sh"])

  /// The programs that are missing.
  package var missing: [String] { programs.filter { !Self.isInstalled($0) } }

  /// Returns whether a program is in `PATH`, in a system folder or in PostgreSQL's folder.
  static func isInstalled(_ program: String) -> Bool { path(of: program) != nil }

  /// Returns the path of a program in `PATH`, in a system folder or in PostgreSQL's folder, or `nil`.
  static func path(of program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders: [Substring] =
      path.split(separator: ":") + ["/usr/sbin", "/usr/libexec"]
      + (PostgreSQLServer.programFolder.map { [$0[...]] } ?? [])
    return folders.lazy.map { "\($0)/\(program)" }
      .first(where: FileManager.default.isExecutableFile(atPath:))
  }

  /// Returns whether a test can run.
  ///
  /// Throws instead of returning `false` if every test must run.
  func isMet() throws -> Bool {
    let missing = missing
    return try Requirement.isMet(missing.isEmpty, missing.joined(separator: ", "))
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test with a reason if a program is missing.
  ///
  /// With `CI=true`, the test fails instead.
  package static func requires(_ requirement: ProgramRequirement) -> Self {
    .enabled(
      "needs \(requirement.programs.joined(separator: ", ")); run Scripts/install test"
    ) { try requirement.isMet() }
  }
}

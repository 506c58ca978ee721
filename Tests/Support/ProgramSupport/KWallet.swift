import Foundation
import TestSupport

/// KWallet as the keyring of a private session, without a screen.
///
/// By default, a test opens the wallet as a login to KDE does, and no user is asked for a password.
package final class KWallet: Sendable {
  /// The user's actions before the program starts.
  package enum Start: Sendable {
    /// The user logged in with a password that opens the wallet.
    case openWallet
    /// The user logged in by other means, such as a fingerprint.
    case closedWallet
    /// The user never used a wallet.
    case noWallet
  }

  /// The name of the newest KWallet program on this system; the program's D-Bus names contain it
  /// too.
  static let name =
    ["kwalletd6", "kwalletd5"].first(where: ProgramRequirement.isInstalled) ?? "kwalletd6"

  private let desktop: PrivateDesktop
  private let folder: TemporaryFolder
  private let program: ChildProcess

  /// Starts the program, which ends with ``stop()``.
  package init(on desktop: PrivateDesktop, _ start: Start = .openWallet) async throws {
    self.desktop = desktop
    folder = try TemporaryFolder()
    try Self.settings.write(
      toFile: folder.file("kwalletrc"), atomically: false, encoding: .utf8)
    if start != .noWallet {
      // A wallet that is created while the program runs becomes a collection only at its next
      // start.
      let first = try await Self.launch(desktop, folder)
      try await Self.openWallet(desktop)
      try await eventually("the wallet's file is there") { desktop.hasWallet }
      await first.stop()
      try await eventually("KWallet has ended") { try await !desktop.hasKeyring() }
    }
    program = try await Self.launch(desktop, folder)
    if start == .openWallet { try await Self.openWallet(desktop) }
  }

  /// Ends the program.
  package func stop() async { await program.stop() }

  private static func launch(
    _ desktop: PrivateDesktop, _ folder: TemporaryFolder
  ) async throws -> ChildProcess {
    let program = try PrivateDesktop.start(
      [name],
      environment: desktop.environment.merging([
        "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": folder.path,
        "XDG_CACHE_HOME": folder.file("cache"),
      ]) { $1 })
    try await eventually("KWallet is there") { try await desktop.hasKeyring() }
    return program
  }

  /// Opens the wallet, or creates it if it is missing, as the login does with a digest of the
  /// user's password.
  private static func openWallet(_ desktop: PrivateDesktop) async throws {
    let digest = (1...56).map(String.init).joined(separator: ",")
    let answer = try await desktop.send(
      "org.kde.\(name)", "/modules/\(name)", "org.kde.KWallet.pamOpen",
      ["string:kdewallet", "array:byte:\(digest)", "int32:0"])
    guard answer.contains("method return") else {
      throw ChildProcessError(message: "KWallet does not open its wallet")
    }
  }

  /// The settings that KWallet's assistant writes at the first use.
  private static let settings = """
    [Wallet]
    Default Wallet=kdewallet
    Enabled=true
    First Use=false
    """
}

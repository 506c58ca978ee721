import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport

/// The address of a bus that does not exist.
let noBus = "unix:path=/nowhere"

extension StoreKind {
  /// The desktop's keyring, if this machine can start one.
  static let keyring: [StoreKind] = kinds(of: .keyring) {
    [
      service(
        "keyring", on: SharedDesktop.ready,
        address: { "keyring:\($0.path)@\(SharedDesktop.address)" }),
      StoreKind(
        name: "desktop with a keyring",
        open: { folder in
          let path = folder.path
          return LateStore {
            DesktopTokenStore(
              service: path, folder: path, bus: try await SharedDesktop.ready(),
              hasDisplay: false)
          }
        },
        address: { "desktop:\($0.path)@\(SharedDesktop.address)" }, isInFolder: false),
    ]
  }

  /// The wallet of a KDE desktop user.
  static let kWallet: [StoreKind] = kinds(of: .kWallet) {
    [service("KWallet", on: SharedWallet.ready)]
  }

  /// Returns the kinds of store that a program serves, or none if the program is missing.
  ///
  /// In CI, a missing program is a failure of the tests, so the kinds are returned.
  private static func kinds(
    of program: ProgramRequirement, _ kinds: () -> [StoreKind]
  ) -> [StoreKind] {
    let isTested =
      program.missing.isEmpty || ProcessInfo.processInfo.environment["CI"] == "true"
    return isTested ? kinds() : []
  }

  /// Creates the kind of store that a program serves on a bus; the program may still be starting.
  private static func service(
    _ name: String, on bus: @escaping @Sendable () async throws -> String,
    address: (@Sendable (TemporaryFolder) -> String)? = nil
  ) -> StoreKind {
    StoreKind(
      name: name,
      open: { folder in
        let path = folder.path
        return LateStore {
          SecretServiceTokenStore(service: path, folder: path, bus: try await bus())
        }
      },
      address: address, isInFolder: false)
  }

  /// The desktop user's store on a desktop without a keyring.
  static let keyless = StoreKind(
    name: "desktop without a keyring",
    open: { folder in
      let folder = folder.file("deep/er")
      return DesktopTokenStore(service: "app", folder: folder, bus: noBus, hasDisplay: true)
    },
    address: { "keyless-desktop:\($0.file("deep/er/tokens.sealed"))" })
}

/// A keyring that the tests share.
///
/// The first test that needs it starts it.
enum SharedDesktop {
  private static let folder = Result { try TemporaryFolder() }
  private static let start = Task {
    try await PrivateDesktop(in: folder.get(), keyring: true)
  }

  /// The address of the keyring's bus.
  ///
  /// A process may have to wait until the keyring listens there.
  static var address: String {
    _ = start
    return (try? folder.get()).map { PrivateDesktop.address(in: $0) } ?? ""
  }

  /// Waits until the keyring runs, and returns the address of its bus.
  static func ready() async throws -> String { try await start.value.address }
}

/// A wallet that the tests share.
///
/// The first test that needs it starts it.
enum SharedWallet {
  private static let folder = Result { try TemporaryFolder() }
  private static let start = Task {
    let desktop = try await PrivateDesktop(in: folder.get())
    return (desktop: desktop, program: try await KWallet(on: desktop))
  }

  /// Waits until the wallet is open, and returns the address of its bus.
  static func ready() async throws -> String { try await start.value.desktop.address }
}

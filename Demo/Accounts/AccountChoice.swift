import SequencingOAuth

extension Option {
  static let account = Option(
    "--account", value: "ID",
    help: "The account, by the name that its login gave it. Without this option it is "
      + "\"default\", or else the only one that is kept.")
}

/// Which of the accounts that are kept a command means.
struct AccountChoice: Sendable {
  /// The account where none is named.
  static let defaultID = "default"

  /// The account that was named.
  let id: String?
  /// Whether an account is one of the client that was named, if one was.
  var fits: @Sendable (AccountRecord) -> Bool = { _ in true }

  /// The name of an account that is signed in anew.
  var newID: String { id ?? Self.defaultID }

  /// What is said where there is none.
  var nobody: String {
    id.map { "Nobody is signed in as \"\($0.printable)\"." } ?? "Nobody is signed in."
  }

  /// The account, or `nil` where there is none.
  func record(in store: OpenStore) async throws(Failure) -> AccountRecord? {
    let id = newID
    let record = try await store.attempt { try await $0.load(id) }
    if let record, self.id != nil || fits(record) { return record }
    guard self.id == nil else { return nil }
    let fitting = try await store.attempt { try await $0.all() }.filter(fits)
    guard fitting.count <= 1 else { throw Self.isOpen(among: fitting) }
    // An account that does not fit is another's, which is told when it is used.
    return fitting.first ?? record
  }

  /// How the account was signed in, where it is known and the account is not signed in any more.
  func remembered(in store: OpenStore?) async throws(Failure) -> AccountRecord? {
    guard let clients = store?.clients else { return nil }
    if let record = try await clients.record(newID) { return record }
    guard id == nil else { return nil }
    let fitting = try await clients.all().filter(fits)
    return fitting.count == 1 ? fitting.first : nil
  }

  /// The failure when the account that was named, or any account, is not kept.
  func isMissing(in store: OpenStore?) async throws(Failure) -> Failure {
    guard id != nil else { return Self.nobodyIsSignedIn }
    let failure = Failure(
      "no_account", "there is no account \"\(newID.printable)\"", status: .notAuthorized)
    let ids = try await store?.attempt { try await $0.list() } ?? []
    guard !ids.isEmpty else {
      return failure.withHint("Sign it in with 'sq-demo login' and the provider's options.")
    }
    return failure.withHint("Kept are:\n" + Self.options(ids))
  }

  private static let nobodyIsSignedIn = Failure(
    "no_account", "nobody is signed in", status: .notAuthorized
  ).withHint(
    "Please sign in. 'sq-demo login' does it, with the provider's options: --provider or --issuer, "
      + "and --client-id.")

  private static func isOpen(among records: [AccountRecord]) -> Failure {
    Failure(
      "account_needed", "\(records.count) accounts are kept; name one", status: .wrongUsage
    ).withHint(options(records.map(\.id)))
  }

  /// The ids as a person may copy them.
  private static func options(_ ids: [String]) -> String {
    let shown = ids.prefix(20).map { "  --account \(ShellWords.quote($0.printable))" }
    let rest = ids.count - shown.count
    return (shown + (rest > 0 ? ["  and \(rest) more; 'sq-demo accounts' lists them"] : []))
      .joined(separator: "\n")
  }
}

import SQBasics
import SequencingOAuth

extension Option {
  static let account = Option(
    "--account", value: "ID",
    help: "The account, by the name from its login. Without this option, it is the account "
      + "\"default\" or, if there is none, the only account in the store.")
}

/// How a command chooses its account in the store.
struct AccountChoice: Sendable {
  /// The account's name if the command line names none.
  static let defaultID = "default"

  /// The name of the account on the command line, if there is one.
  let id: String?
  /// A closure that returns whether an account belongs to the client on the command line.
  ///
  /// The result is always `true` if the command line names no client.
  var fits: @Sendable (AccountRecord) -> Bool = { _ in true }

  /// The name of an account that a new sign-in creates.
  var newID: String { id ?? Self.defaultID }

  /// The sentence for the user if no user is signed in to the account.
  var nobodyText: String {
    id.map { "Nobody is signed in as \"\($0.onScreen)\"." } ?? "Nobody is signed in."
  }

  /// Loads the account, and returns `nil` if the store has no suitable account.
  ///
  /// The result may belong to another client or server than the options name, so that a command can
  /// refuse it instead of replacing it; see ``AccountOptions/checkIsNamed(_:)``.
  func record(in store: OpenStore) async throws(Failure) -> AccountRecord? {
    let id = newID
    let record = try await store.attempt { try await $0.load(id) }
    if let record, self.id != nil || fits(record) { return record }
    guard self.id == nil else { return nil }
    // An account that cannot be read may be the one that the user means, so its error is thrown.
    let fitting = try await store.attempt { try await $0.all() }.filter(fits)
    guard fitting.count <= 1 else { throw Self.isOpen(among: fitting) }
    return fitting.first ?? record
  }

  /// Loads how a signed-out account was signed in before, and returns `nil` if that is not known.
  ///
  /// An account that the command line names may belong to another client or server than the options
  /// name, as in ``record(in:)``.
  func remembered(in store: OpenStore?) async throws(Failure) -> AccountRecord? {
    guard let clients = store?.clients else { return nil }
    if let record = try await clients.record(newID), id != nil || fits(record) { return record }
    guard id == nil else { return nil }
    let fitting = try await clients.all().filter(fits)
    return fitting.count == 1 ? fitting.first : nil
  }

  /// Returns the failure of a command that finds no account, or not the account that it names.
  func isMissing(in store: OpenStore?) async throws(Failure) -> Failure {
    guard id != nil else { return Self.nobodyIsSignedIn }
    let failure = Failure(
      "no_account", "there is no account \"\(newID.onScreen)\"", status: .notAuthorized)
    let ids = try await store?.attempt { try await $0.list() } ?? []
    guard !ids.isEmpty else {
      return failure.withHint(
        "Sign it in with 'sq-demo login --account \(ShellWords.quote(newID.onScreen))' and the "
          + "provider's options.")
    }
    return failure.withHint("The accounts in the store are:\n" + Self.options(ids))
  }

  private static let nobodyIsSignedIn = Failure(
    "no_account", "nobody is signed in", status: .notAuthorized
  ).withHint(
    "Please sign in. 'sq-demo login' does it, with the provider's options: --provider or --issuer, "
      + "and --client-id.")

  static func isOpen(among records: [AccountRecord]) -> Failure {
    isOpen(among: records, "the store has \(records.count) accounts; name one")
  }

  /// Returns the failure of a command that cannot choose among accounts; `reason` is the message.
  static func isOpen(among records: [AccountRecord], _ reason: String) -> Failure {
    Failure("account_needed", reason, status: .wrongUsage).withHint(options(records.map(\.id)))
  }

  /// Returns the accounts as command-line options that the user can copy.
  private static func options(_ ids: [String]) -> String {
    let shown = ids.prefix(20).map { "  --account \(ShellWords.quote($0.onScreen))" }
    let rest = ids.count - shown.count
    return (shown + (rest > 0 ? ["  and \(rest) more; 'sq-demo accounts' lists them"] : []))
      .joined(separator: "\n")
  }
}

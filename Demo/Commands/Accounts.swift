import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `accounts`: shows the accounts in the store.
struct Accounts: Command {
  static let name = "accounts"
  static let summary = "List the accounts that are kept."
  static let details = """
    For each account it shows the client, the server, the scope of the token, when the
    token expires, and whether it can be refreshed without you. For an account whose
    session has ended it shows the command that signs it in again. With --account it shows
    that account only, and the exit status is 1 if it is not kept. The command sends
    nothing to a server.

    Standard error says where the command looked.

    With --json it prints one object: accounts, a list of objects with account, client_id,
    issuer, token_endpoint, scope, expires_at (ISO 8601), expires_in (seconds, 0 when it
    has expired), can_refresh, needs_sign_in and name, as far as they are known.
    """
  static let options =
    [Option("--account", value: "ID", help: "Show this account only.")] + StoreOptions.options + [
      .json
    ]

  private let id: String?
  private let store: StoreOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    id = arguments[.account]
    store = try StoreOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    // Standard output gets nothing but the list.
    let console = console.reservingOutput
    let opened = try await store.openIfThere(console)
    let records = try await records(in: opened)
    console.progress("Looked in \(await opened?.place ?? store.emptyPlace).")
    guard let records else { throw try await AccountChoice(id: id).isMissing(in: opened) }
    let reports = records.map { AccountReport($0, in: store, at: Date()) }
    guard !printsJSON else {
      return try console.result(try AccountsReport(accounts: reports).json())
    }
    try console.result(
      reports.isEmpty
        ? "No account is kept." : reports.map(\.text).joined(separator: "\n\n"))
  }

  /// The accounts to show; `nil` if the command names an account that the store does not have.
  private func records(in store: OpenStore?) async throws(Failure) -> [AccountRecord]? {
    guard let id else {
      let records = try await store?.attempt { try await $0.all() } ?? []
      let signedIn = Set(records.map(\.id))
      let others = try await store?.clients?.all().filter { !signedIn.contains($0.id) } ?? []
      return (records + others).sorted { $0.id < $1.id }
    }
    if let record = try await store?.attempt({ try await $0.load(id) }) { return [record] }
    return try await store?.clients?.record(id).map { [$0] }
  }
}

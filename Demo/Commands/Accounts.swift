import SQBasics
import SQFoundation
import SequencingOAuth

/// The command `accounts`: lists the accounts in the store.
struct Accounts: Command {
  static let name = "accounts"
  static let summary = "List the stored accounts."
  static let details = """
    For each account it shows the client, the server, the resource if 'sq-demo call' found
    the server by its address, the scope of the token, whether the token is bound to a key,
    when it expires, whether it can be refreshed without you, and when you must sign in
    again, if the server has said so. For an account whose session has ended it shows the
    command that signs it in again. With --account it shows that account only, and the exit
    status is 1 if it is not stored. The command sends nothing to a server.

    Standard error says where the command looked, and which accounts cannot be read.

    With --json it prints one object: accounts, a list of objects with account, client_id,
    client_key_file (a path), profile, issuer, resource, token_endpoint, scope, bound,
    proof_algorithm (of the key to which the token is bound), expires_at (ISO 8601),
    expires_in (seconds, 0 when it has expired), can_refresh, sign_in_ends_at (ISO 8601),
    needs_sign_in and name, as far as they are known.
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
    // Only the list goes to standard output.
    let console = console.reservingOutput
    let opened = try await store.openIfThere(console)
    var list = AccountList(store, console, printsJSON: printsJSON)
    if let id {
      let record = try await record(id, in: opened)
      await tellPlace(of: opened, console)
      guard let record else { throw try await AccountChoice(id: id).isMissing(in: opened) }
      try list.add(record)
    } else {
      try await addAll(of: opened, to: &list, console)
    }
    try list.end()
  }

  private func tellPlace(of opened: OpenStore?, _ console: Console) async {
    console.progress("Looked in \(await opened?.place ?? store.emptyPlace).")
  }

  private func record(
    _ id: String, in store: OpenStore?
  ) async throws(Failure) -> AccountRecord? {
    if let record = try await store?.attempt({ try await $0.load(id) }) { return record }
    return try await store?.clients?.record(id)
  }

  /// Adds the accounts of a store and the accounts whose sessions have ended, sorted by ID.
  ///
  /// Reads the store page by page. An account that cannot be read is a warning, unless there is no
  /// other account.
  private func addAll(
    of opened: OpenStore?, to list: inout AccountList, _ console: Console
  ) async throws(Failure) {
    let remembered = try await opened?.clients?.readable()
    var ended = (remembered?.records ?? []).sorted { Self.comesFirst($0.id, $1.id) }[...]
    var unreadable = (remembered?.others ?? []).map { (id: $0.id, failure: Failure($0.error)) }
    var entries = opened?.store.entries().makeAsyncIterator()
    var next = try await Self.next(&entries)
    // Tell the user which store it is only after the first read: if the store cannot be read, the
    // error is enough.
    await tellPlace(of: opened, console)
    while let entry = next {
      while let other = ended.first, Self.comesFirst(other.id, entry.id) {
        try list.add(other)
        ended.removeFirst()
      }
      if ended.first?.id == entry.id { ended.removeFirst() }
      unreadable.removeAll { $0.id == entry.id }
      switch entry.record {
      case .success(let record): try list.add(record)
      case .failure(let error): unreadable.append((entry.id, Failure(error)))
      }
      next = try await Self.next(&entries)
    }
    for other in ended { try list.add(other) }
    if list.isEmpty, let first = unreadable.first { throw first.failure }
    for (id, failure) in unreadable {
      console.warn("the account \"\(id.onScreen)\" cannot be read: \(failure.message)")
    }
  }

  /// Returns the next account of a store, and converts the store's error to a failure.
  private static func next(
    _ entries: inout AccountEntries.AsyncIterator?
  ) async throws(Failure) -> AccountEntry? {
    do throws(SQOAuthError) {
      return try await entries?.next()
    } catch {
      throw Failure(error)
    }
  }

  /// Returns whether one ID comes before another in the order of a store's pages.
  private static func comesFirst(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

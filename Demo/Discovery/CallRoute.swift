import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery

/// The way in which a command gets access to a URL.
enum CallRoute: Sendable {
  /// The stored account that the options name, or a new account that they describe.
  case account(AccountOptions)
  /// An account for the resource itself; the command finds the authorization server.
  case resource(ResourceAccess)
}

extension AccountOptions {
  /// Returns the route to a URL: the account that fits it or, without one, the resource itself.
  ///
  /// An account fits if it is kept for the resource. It also fits if its token may go to the URL's
  /// server: one of the servers that the user listed or, without a list, its authorization server.
  /// An account that `--account` names, or a server that the options name, is used in any case. If
  /// `--account` names no existing account, a new account for the resource gets this name.
  func route(to url: String?, _ console: Console) async throws(Failure) -> CallRoute {
    guard let url, !signIn.usesSandbox, signIn.server == nil else { return .account(self) }
    let target = try CallTarget(checking: url)
    let (options, records) = try await opening(console)
    if let id = choice.id {
      let record = records.first { $0.id == id }
      guard record.map(target.isNamed) ?? true else { return .account(options) }
      return .resource(ResourceAccess(url, id, options, records))
    }
    switch target.choice(among: records) {
    case .open(let several): throw AccountChoice.isOpen(among: several)
    case .resource(let record):
      return .resource(ResourceAccess(url, record.id, options, records))
    case .login(let record):
      var chosen = options
      chosen.choice = AccountChoice(id: record.id)
      return .account(chosen)
    case .new: return .resource(ResourceAccess(url, nil, options, records))
    }
  }

  /// Opens the store if it exists, and returns these options with the store, and the records of all
  /// accounts.
  ///
  /// The records include accounts whose sessions have ended.
  func opening(_ console: Console) async throws(Failure) -> (AccountOptions, [AccountRecord]) {
    var options = self
    options.opened = try await store.openIfThere(console)
    guard let opened = options.opened else { return (options, []) }
    let (kept, others) = try await opened.attempt { try await $0.readable() }
    // Without a name, an account that cannot be read may be the one that the user means.
    let meant = others.first { choice.id == nil || $0.id == choice.id }
    if let meant { throw Failure(meant.error) }
    let ids = Set(kept.map(\.id) + others.map(\.id))
    let ended = try await opened.clients?.all() ?? []
    return (options, kept + ended.filter { !ids.contains($0.id) })
  }
}

/// The URL of a request, and the rules for which accounts fit it.
struct CallTarget: Sendable {
  private let origin: ResourceOrigin
  /// The identifiers of the resource, the most specific first.
  private let identifiers: [String]

  init(_ url: String) throws(SQOAuthError) {
    origin = try ResourceOrigin(url)
    identifiers = try ResourceClient.identifiers(of: url)
  }

  /// Reads an address of the command line.
  init(checking url: String) throws(Failure) {
    do throws(SQOAuthError) {
      try self.init(url)
    } catch {
      throw .refused(error, address: url)
    }
  }

  /// The account of a call without `--account`.
  enum Choice {
    /// An account that is kept for the resource.
    case resource(AccountRecord)
    /// An account from `sq-demo login` that fits the URL.
    case login(AccountRecord)
    /// Several accounts fit; the call must name one of them.
    case open([AccountRecord])
    /// A new account for the resource.
    case new
  }

  /// Returns the account of a call without `--account`.
  func choice(among records: [AccountRecord]) -> Choice {
    let kept = resources(among: records)
    guard kept.count <= 1 else { return .open(kept) }
    if let record = kept.first { return .resource(record) }
    let fitting = records.filter(isReached)
    guard let first = fitting.first(where: { $0.id == AccountChoice.defaultID }) ?? fitting.first
    else { return .new }
    guard fitting.count == 1 || first.id == AccountChoice.defaultID else { return .open(fitting) }
    return .login(first)
  }

  /// Returns an account that has the name of the resource's account, but is not for the resource.
  ///
  /// `id` is the name of the resource's account. If `id` is `nil`, the account's name is one of the
  /// resource's identifiers.
  func namesake(of id: String?, among records: [AccountRecord]) -> AccountRecord? {
    let names = id.map { [$0] } ?? identifiers
    return records.first { record in
      names.contains(record.id)
        && !KeptClient(record).identifiers.contains(where: identifiers.contains)
    }
  }

  /// Returns the account that is kept for the resource, or several accounts if a call must name one
  /// of them.
  ///
  /// An account with the resource's identifier as its name takes precedence; a call without
  /// `--account` creates such an account.
  func resources(among records: [AccountRecord]) -> [AccountRecord] {
    for identifier in identifiers {
      let kept = records.filter { KeptClient($0).identifiers == [identifier] }
      if let own = kept.first(where: { $0.id == identifier }) { return [own] }
      if !kept.isEmpty { return kept }
    }
    return []
  }

  /// Returns whether an account is kept for a resource at the URL's server.
  func isNamed(by record: AccountRecord) -> Bool {
    let client = KeptClient(record)
    return !client.identifiers.isEmpty && client.resources.contains(origin)
  }

  /// Returns whether an account from `login` is meant for the URL's server.
  func isReached(by record: AccountRecord) -> Bool {
    let client = KeptClient(record)
    guard client.identifiers.isEmpty else { return false }
    guard client.resources.isEmpty else { return client.resources.contains(origin) }
    let server = record.issuer ?? client.knownAddress ?? record.tokenEndpoint
    return server.flatMap { try? ResourceOrigin($0) } == origin
  }
}

import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery

/// The way in which a command gets access to a URL.
enum CallRoute: Sendable {
  /// A kept account, or a new account of the options.
  case account(AccountOptions)
  /// An account for the resource itself, whose server the command finds.
  case resource(ResourceAccess)
}

extension AccountOptions {
  /// Returns the route to a URL: the account that fits it or, without one, the resource itself.
  ///
  /// An account fits if it is kept for the resource, if its listed servers contain that of the URL,
  /// or if it lists none and its own server is that of the URL. An account that `--account` names,
  /// and a server that the options name, are used in any case. A name of no account becomes that of
  /// a new account for the resource.
  func route(to url: String?, _ console: Console) async throws(Failure) -> CallRoute {
    guard let url, !signIn.usesSandbox, signIn.server == nil else { return .account(self) }
    let target = try CallTarget(checking: url)
    let (options, records) = try await opening(console)
    if let id = choice.id {
      let record = records.first { $0.id == id }
      guard record.map(target.isNamed) ?? true else { return .account(options) }
      return .resource(ResourceAccess(url, id, options, records))
    }
    let kept = target.resources(among: records)
    guard kept.count <= 1 else { throw AccountChoice.isOpen(among: kept) }
    if let record = kept.first {
      return .resource(ResourceAccess(url, record.id, options, records))
    }
    let fitting = records.filter(target.isReached)
    guard let first = fitting.first(where: { $0.id == AccountChoice.defaultID }) ?? fitting.first
    else { return .resource(ResourceAccess(url, nil, options, records)) }
    guard fitting.count == 1 || first.id == AccountChoice.defaultID else {
      throw AccountChoice.isOpen(among: fitting)
    }
    var chosen = options
    chosen.choice = AccountChoice(id: first.id)
    return .account(chosen)
  }

  /// Opens the store if it is there, and returns these options with it and the records of all
  /// accounts, also of those whose sessions have ended.
  func opening(_ console: Console) async throws(Failure) -> (AccountOptions, [AccountRecord]) {
    var options = self
    options.opened = try await store.openIfThere(console)
    guard let opened = options.opened else { return (options, []) }
    let kept = try await opened.attempt { try await $0.all() }
    let ids = Set(kept.map(\.id))
    let ended = try await opened.clients?.all() ?? []
    return (options, kept + ended.filter { !ids.contains($0.id) })
  }
}

/// The URL of a request, which accounts may fit.
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
      throw .refused(error)
    }
  }

  /// Returns the account that is kept for the resource; several if a call must name one of them.
  ///
  /// An account with the resource's own name, which a call without `--account` makes, comes first.
  func resources(among records: [AccountRecord]) -> [AccountRecord] {
    for identifier in identifiers {
      let kept = records.filter { KeptClient($0).identifiers == [identifier] }
      if let own = kept.first(where: { $0.id == identifier }) { return [own] }
      if !kept.isEmpty { return kept }
    }
    return []
  }

  /// Returns whether an account is one of a resource at the URL's server.
  func isNamed(by record: AccountRecord) -> Bool {
    let client = KeptClient(record)
    return !client.identifiers.isEmpty && client.resources.contains(origin)
  }

  /// Returns whether the user meant an account for the URL's server.
  func isReached(by record: AccountRecord) -> Bool {
    let client = KeptClient(record)
    guard client.identifiers.isEmpty else { return false }
    guard client.resources.isEmpty else { return client.resources.contains(origin) }
    let server = record.issuer ?? client.knownAddress ?? record.tokenEndpoint
    return server.flatMap { try? ResourceOrigin($0) } == origin
  }
}

import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthPostgreSQL
import SequencingOAuthSQLite
import TestSupport

@testable import Basics

/// Accounts at a strict server, in a store that keepers share.
struct KeptAccounts: Sendable {
  enum Store: CaseIterable {
    case sqlite
    case postgreSQL
  }

  let sandbox: SandboxServer
  let configuration: ClientConfiguration
  /// Opens the store as another process would.
  let open: @Sendable () -> any TokenStore

  static func running(
    _ kind: Store, lifetime: Duration = .seconds(3600),
    _ body: (KeptAccounts) async throws -> Void
  ) async throws {
    var options = SandboxOptions()
    options.accessTokenLifetime = lifetime
    let sandbox = try await SandboxServer.start(options)
    let configuration = try ClientConfiguration(
      clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback",
      provider: .issuer(sandbox.issuer.absoluteString))
    switch kind {
    case .sqlite:
      let folder = try TemporaryFolder()
      try await body(
        KeptAccounts(
          sandbox: sandbox, configuration: configuration,
          open: { SQLiteTokenStore(path: folder.file("tokens.sqlite")) }))
    case .postgreSQL:
      try await PostgreSQLServer.running { server in
        try await body(
          KeptAccounts(
            sandbox: sandbox, configuration: configuration, open: { StoreTests.store(server) }))
      }
    }
    await sandbox.stop()
  }

  /// Signs users in, with tokens that expire after a time.
  func add(
    _ ids: [String], expiringAfter time: Double, issued: Date = Date(), client: String? = nil
  ) async throws {
    let store = open()
    for id in ids {
      let tokens = sandbox.issueTokens()
      try await store.save(
        AccountRecord(
          id: id, clientID: client ?? SandboxClient.app.id,
          issuer: sandbox.issuer.absoluteString, session: id,
          token: SQToken(
            accessToken: tokens.accessToken, expirationDate: Date() + time,
            refreshToken: tokens.refreshToken, issueDate: issued)))
    }
  }

  /// A keeper with a store of its own, as on another host.
  func keeper(_ choice: KeepingChoice = .all, atOnce: Int = 8) -> AccountKeeper {
    let configuration = configuration
    return AccountManager(store: open()).keepFresh(choice, atOnce: atOnce) { record in
      record.clientID == configuration.clientID ? configuration : nil
    }
  }

  var refreshes: Int { sandbox.requests(to: .token).count }
}

/// The events of a keeper so far.
final class KeptEvents: Sendable {
  private let events = Locked<[String]>([])

  init(_ keeper: AccountKeeper) {
    let stream = keeper.events
    Task {
      for await event in stream {
        let text =
          switch event {
          case .refreshed(let id): "\(id) refreshed"
          case .failed(let id, let error): "\(id) failed: \(error.code.rawValue)"
          case .ended(let id, let error): "\(id) ended: \(error.code.rawValue)"
          case .paused: "paused"
          case .storeFailed(let error): "store failed: \(error.code.rawValue)"
          }
        self.events.withLock { $0.append(text) }
      }
    }
  }

  var all: [String] { events.withLock { $0 } }
}

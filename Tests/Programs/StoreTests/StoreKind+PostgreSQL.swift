import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport

extension StoreKind {
  /// A database that the tests share, directly and through a pooler.
  static let postgreSQL: [StoreKind] =
    if ProgramRequirement.postgreSQL.missing.isEmpty
      || ProcessInfo.processInfo.environment["CI"] == "true"
    {
      [
        StoreKind(
          name: "PostgreSQL",
          open: { folder in SharedDatabase.store(folder) { $0.server.connection } },
          isInFolder: false),
        StoreKind(
          name: "PostgreSQL through PgBouncer",
          open: { folder in SharedDatabase.store(folder) { $0.pooler.connection } },
          isInFolder: false),
      ]
    } else {
      []
    }
}

/// A server and a pooler that the tests share.
///
/// The first test that needs them starts them.
struct SharedDatabase: Sendable {
  let server: PostgreSQLServer
  let pooler: PgBouncer

  static let start = Task {
    let server = try await PostgreSQLServer.start()
    return SharedDatabase(server: server, pooler: try await PgBouncer.start(server))
  }

  /// Returns a store with its own schema for the test that created the folder.
  static func store(
    _ folder: TemporaryFolder, _ connection: @escaping @Sendable (SharedDatabase) -> String
  ) -> any TokenStore {
    let schema = "test \"\(folder.path.suffix(40))\""
    return LateStore {
      PostgreSQLTokenStore(
        connection: connection(try await start.value), key: .testKey, schema: schema)
    }
  }
}

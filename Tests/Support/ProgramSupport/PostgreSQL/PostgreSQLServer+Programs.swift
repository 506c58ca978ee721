import Foundation

extension PostgreSQLServer {
  /// The folder of Debian's newest PostgreSQL, whose programs are mostly not in `PATH`.
  static let programFolder: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.max { $0.compare($1, options: .numeric) == .orderedAscending }
      .map { "\(root)/\($0)/bin" }
  }()

  /// Returns the path of a PostgreSQL program, which must be in `PATH` on other systems than
  /// Debian.
  package static func program(_ name: String) -> String {
    programFolder.map { "\($0)/\(name)" } ?? name
  }
}

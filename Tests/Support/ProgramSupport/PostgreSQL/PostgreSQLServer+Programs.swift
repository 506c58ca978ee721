import Foundation

extension PostgreSQLServer {
  /// The folder of Debian's newest PostgreSQL, most of whose programs are not in `PATH`.
  static let programFolder: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.max { $0.compare($1, options: .numeric) == .orderedAscending }
      .map { "\(root)/\($0)/bin" }
  }()

  /// The path of a program of PostgreSQL; elsewhere than on Debian it must be in `PATH`.
  package static func program(_ name: String) -> String {
    programFolder.map { "\($0)/\(name)" } ?? name
  }
}

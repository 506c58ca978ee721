package import Foundation

/// The sources of the package that these tests belong to.
package enum PackageSources {
  /// The folder of the package, four above this file.
  package static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Returns the sorted paths, from the package's folder, of all that is in one of its folders.
  package static func paths(in folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
      .sorted().map { "\(folder)/\($0)" }
  }

  /// Returns the paths of the README and of all articles.
  package static func documents() throws -> [String] {
    ["README.md"] + (try paths(in: "Sources").filter { $0.hasSuffix(".md") })
  }

  /// Returns the text of the file at a path from the package's folder.
  package static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the module maps of the C modules, by the names of the modules.
  ///
  /// They are in the module's folder, or in `include` if the module has its own code.
  package static func moduleMaps() throws -> [String: String] {
    let sources = root.appending(path: "Sources").path
    var maps: [String: String] = [:]
    for module in try FileManager.default.contentsOfDirectory(atPath: sources) {
      maps[module] = ["", "/include"].map { "\(sources)/\(module)\($0)/module.modulemap" }
        .first(where: FileManager.default.fileExists)
    }
    return maps
  }

  /// Returns the options with which a compiler finds C modules.
  package static func options(for maps: some Sequence<String>) -> [String] {
    maps.sorted().flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }

  /// The option that makes all compilers share the compiled C modules, which take longer to compile
  /// than a small program.
  package static let moduleCache = [
    "-module-cache-path", Bundle.main.bundleURL.appending(path: "ModuleCache").path,
  ]
}

package import Foundation
package import Testing

extension TemporaryFolder {
  /// Returns the paths of everything in the folder, at any depth.
  package func contents() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
  }

  package func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: file(name)))
  }

  /// Expects that every file has mode 0600 and every folder mode 0700.
  package func expectPrivate(
    _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for name in try contents() {
      let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      #expect(
        attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(name) \(what)",
        sourceLocation: sourceLocation)
    }
  }
}

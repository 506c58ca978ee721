import Foundation

/// The files of expected values in `Tests/Values/JOSETests/Vectors`, whose README names their
/// sources.
enum TestVectors {
  /// Decodes a file.
  static func read<Value: Decodable>(_ name: String) throws -> Value {
    let file = PackageSources.root.appending(path: "Tests/Values/JOSETests/Vectors/\(name)")
    return try JSONDecoder().decode(Value.self, from: Data(contentsOf: file))
  }
}

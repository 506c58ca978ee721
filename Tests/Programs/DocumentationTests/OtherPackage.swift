import Foundation
import TestSupport

/// Another package that apps may use, with the public names that its modules declare at file scope.
struct OtherPackage {
  /// The packages on GitHub, each with a list in `Tests/OtherPackages`.
  static let repositories = [
    "apple/swift-argument-parser", "apple/swift-collections", "apple/swift-configuration",
    "apple/swift-crypto", "apple/swift-distributed-tracing", "apple/swift-http-types",
    "apple/swift-log", "apple/swift-metrics", "apple/swift-nio", "apple/swift-nio-http2",
    "apple/swift-nio-ssl", "apple/swift-openapi-runtime", "apple/swift-openapi-urlsession",
    "grpc/grpc-swift-2", "grpc/grpc-swift-nio-transport", "hummingbird-project/hummingbird",
    "hummingbird-project/hummingbird-auth", "modelcontextprotocol/swift-sdk",
    "swift-server/async-http-client", "swift-server/swift-service-lifecycle",
    "swiftlang/swift-foundation", "vapor/jwt-kit", "vapor/vapor",
    // Vapor exports the modules of these packages.
    "vapor/async-kit", "vapor/console-kit", "vapor/multipart-kit", "vapor/routing-kit",
    "vapor/websocket-kit",
  ]

  static let folder = PackageSources.root.appending(path: "Tests/OtherPackages")

  /// Returns the file name of a repository's list.
  static func file(of repository: String) -> String {
    "\(repository.split(separator: "/").last ?? "").txt"
  }

  /// The package and its version.
  let title: String
  /// The declarations by module and name, such as `NIOCore.ByteBuffer`.
  let declarations: [Substring]

  /// Reads a package's list.
  init(_ repository: String) throws {
    let file = Self.folder.appending(path: Self.file(of: repository))
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    title = String(lines.first ?? "")
    declarations = Array(lines.dropFirst())
  }

  /// Returns the declarations whose name is one of `names`.
  func declarations(named names: Set<String>) -> [Substring] {
    declarations.filter { names.contains(Self.name(of: $0)) }
  }

  /// Returns the name after the first dot in a line of a list.
  static func name(of declaration: Substring) -> String {
    String(declaration.drop { $0 != "." }.dropFirst())
  }
}

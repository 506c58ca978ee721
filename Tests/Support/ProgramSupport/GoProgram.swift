import Foundation
import TestSupport
package import Testing

/// Builds small programs in Go with Debian's Go libraries.
enum GoProgram {
  /// Debian's libraries: sources in one tree that must be built without Go modules.
  private static let libraries = "/usr/share/gocode"

  /// Returns whether Go and a library are installed.
  static func canUse(_ library: String) -> Bool {
    ProgramRequirement(programs: ["go"]).missing.isEmpty
      && FileManager.default.fileExists(atPath: "\(libraries)/src/\(library)")
  }

  /// Builds the program from the sources in a folder, and returns its path.
  ///
  /// The program is placed next to the test programs. Its compiled parts are kept in `.build/go`,
  /// so only the first build takes long.
  static func build(_ folder: URL) async throws -> String {
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".go") }.sorted().map { folder.appending(path: $0).path }
    let program = Bundle.main.bundleURL.appending(path: folder.lastPathComponent).path
    let unfinished = "\(program).\(getpid())"
    let result = try await ChildProcess.run(
      ["go", "build", "-o", unfinished] + sources,
      environment: [
        "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOPATH": libraries,
        "GOCACHE": PackageSources.root.appending(path: ".build/go").path, "CGO_ENABLED": "0",
      ], within: .seconds(240))
    guard result.status == 0, rename(unfinished, program) == 0 else {
      throw ChildProcessError(message: "\(program) cannot be built: \(result.errors)")
    }
    return program
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test if the servers of grpc-go cannot run.
  package static var requiresGRPCGo: Self {
    .requires(
      "Go and grpc-go; run Scripts/install test", GoProgram.canUse("google.golang.org/grpc"))
  }
}

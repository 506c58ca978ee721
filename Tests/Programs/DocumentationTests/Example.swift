import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport

/// A file of `Demo/Examples`, built alone, with a sandbox and a home folder to run it.
struct Example: Sendable {
  let sandbox: SandboxServer
  private let program: String
  /// The builder of the program; the program's file exists only as long as the builder.
  private let builder: ProgramBuilder
  private let home: TemporaryFolder

  /// Builds a file alone, or together with a `Main.swift` that runs its tests.
  init(
    _ name: String, main: String? = nil, options: SandboxOptions = SandboxOptions()
  ) async throws {
    builder = try ProgramBuilder()
    home = try TemporaryFolder()
    sandbox = try await SandboxServer.start(options)
    var files = [name: try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)]
    files["Main.swift"] = main
    program = try await builder.build(
      "example", files, ["-swift-version", "6"] + (main == nil ? [] : ["-parse-as-library"]))
  }

  /// Starts the program.
  ///
  /// By default, the program can open no browser.
  func start(
    _ arguments: String..., environment: [String: String?] = [:],
    input: ChildProcess.Input = .none
  ) throws -> ChildProcess {
    let settings: [String: String?] = [
      "ISSUER": sandbox.issuer.absoluteString, "CLIENT_ID": nil, "CLIENT_SECRET": nil, "API": nil,
      "AUDIENCE": nil, "BROWSER": "false", "XDG_STATE_HOME": home.path,
    ]
    return try ChildProcess(
      [program] + arguments, environment: settings.merging(environment) { $1 },
      input: input)
  }

  static let folder = PackageSources.root.appending(path: "Demo/Examples")

  /// Returns the code of each example without its header comment, by file name.
  static func all() throws -> [String: String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".swift") && $0 != "Package.swift" }
    return try Dictionary(uniqueKeysWithValues: names.map { ($0, try code(of: $0)) })
  }

  private static func code(of name: String) throws -> String {
    let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0.isEmpty || $0.hasPrefix("//") }.joined(separator: "\n")
  }
}

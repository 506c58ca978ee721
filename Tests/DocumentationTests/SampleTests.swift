import Foundation
import TestSupport
import Testing

/// Compiles the samples of the README and the articles, as a reader would paste them.
@Suite(.serialized) struct SampleTests {
  @Test(.timeLimit(.minutes(5)), arguments: try Sample.all())
  func `a sample compiles`(sample: Sample) async throws {
    let diagnostics = try await Compiler.typecheck(sample.code)
    #expect(diagnostics == nil, "\(sample): \(diagnostics ?? "")")
  }

  @Test func `the README has samples, and a broken one is noticed`() async throws {
    #expect(try Sample.all().contains { $0.document == "README.md" })
    #expect(
      try await Compiler.typecheck("import SequencingOAuth\nSQOAuth.shared.noSuchMethod()") != nil)
  }
}

/// A Swift block of a document that begins with an import: a whole program or file.
struct Sample: Sendable, CustomTestStringConvertible {
  let document: String
  let line: Int
  let code: String

  var testDescription: String { "\(document):\(line)" }

  static func all() throws -> [Sample] {
    try documents().flatMap { try samples(in: $0) }
  }

  private static func documents() throws -> [String] {
    let sources = Compiler.root.appending(path: "Sources")
    let articles = FileManager.default.enumerator(atPath: sources.path)?.compactMap {
      $0 as? String
    }
    return ["README.md"]
      + (articles ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "Sources/" + $0 }
  }

  private static func samples(in document: String) throws -> [Sample] {
    let text = try String(contentsOf: Compiler.root.appending(path: document), encoding: .utf8)
    var samples: [Sample] = []
    var block: (line: Int, lines: [Substring])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      switch (line, block) {
      case ("```swift", nil):
        block = (index + 2, [])
      case ("```", let finished?):
        let code = finished.lines.joined(separator: "\n")
        if code.hasPrefix("import ") {
          samples.append(Sample(document: document, line: finished.line, code: code + "\n"))
        }
        block = nil
      case (_, .some):
        block?.lines.append(line)
      default:
        break
      }
    }
    return samples
  }
}

/// The toolchain's compiler, with the modules of the build that runs this test.
enum Compiler {
  /// The package's folder, three above this file.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What the compiler says of a program, or `nil` when it is content.
  static func typecheck(_ code: String) async throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "main.swift")
    try Data(code.utf8).write(to: file)

    let products = Bundle.main.bundleURL
    var arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", file.path,
      "-module-cache-path", folder.appending(path: "modules").path,
      "-I", products.appending(path: "Modules").path,
    ]
    for library in ["CCurl", "CCrypto", "CSockets", "CZlib"] {
      let map = root.appending(path: "Sources/\(library)/module.modulemap").path
      arguments += ["-Xcc", "-fmodule-map-file=\(map)"]
    }
    let result = try await ChildProcess.run(arguments, within: .seconds(240))
    return result.status == 0 ? nil : result.output + result.errors
  }
}

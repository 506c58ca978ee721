import Foundation
import ProgramSupport
import TestSupport

/// The toolchain's compiler with the modules of the current build.
struct Compiler: Sendable {
  private let options: [String]
  private let manifestOptions: [String]
  private let otherModules: OtherModules

  init() async throws {
    otherModules = try await OtherModules()
    let products = Bundle.main.bundleURL.appending(path: "Modules").path
    options =
      ["-I", products] + otherModules.options
      + PackageSources.options(for: try PackageSources.moduleMaps().values)
    let compiler = try await Self.output(of: ["bash", "-c", "realpath $(command -v swiftc)"])
    let toolchain = URL(filePath: compiler).deletingLastPathComponent().deletingLastPathComponent()
    manifestOptions = [
      "-I", toolchain.appending(path: "lib/swift/pm/ManifestAPI").path,
      "-package-description-version", "6.2",
    ]
  }

  /// Returns the compiler's errors for the samples that do not compile.
  ///
  /// The number of samples that compile at a time is the number of processors.
  func compile(_ samples: [Sample]) async throws -> [String] {
    var complaints: [String] = []
    var rest = samples[...]
    try await withThrowingTaskGroup(of: String?.self) { group in
      func compileNext() {
        guard let sample = rest.popFirst() else { return }
        group.addTask { try await compile(sample) }
      }
      for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { compileNext() }
      for try await complaint in group {
        if let complaint { complaints.append(complaint) }
        compileNext()
      }
    }
    return complaints
  }

  /// Returns the compiler's errors for a sample as a reader would paste it, or `nil` if it
  /// compiles.
  ///
  /// The sample is compiled to machine code, because some errors and some of the compiler's own
  /// faults only appear after type checking.
  private func compile(_ sample: Sample) async throws -> String? {
    let place = try TemporaryFolder()
    let file = place.file("main.swift")
    // With this marker the compiler's messages name the document.
    let marker = "#sourceLocation(file: \"\(sample.document)\", line: \(sample.line))\n"
    try Data((marker + sample.code).utf8).write(to: URL(filePath: file))
    let result = try await ChildProcess.run(
      [
        "swiftc", "-emit-object", "-o", place.file("main.o"), "-swift-version", "6",
        "-warnings-as-errors", file,
      ] + PackageSources.moduleCache + (sample.kind == .tests ? ["-parse-as-library"] : [])
        + (sample.kind == .manifest ? manifestOptions : options),
      within: .seconds(240))
    return result.status == 0 ? nil : "\(sample): \(result.output)\(result.errors)"
  }

  private static func output(of command: [String]) async throws -> String {
    let result = try await ChildProcess.run(command)
    guard result.status == 0 else {
      throw CommandFailed(message: result.output + result.errors)
    }
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private struct CommandFailed: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }
}

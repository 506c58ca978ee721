import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Complete apps for the Sequencing.com pods, with stand-ins for UIKit's classes.
///
/// The pods and the parts for Apple's systems are removed; the sources are otherwise unchanged.
@Suite(.timeLimit(.minutes(10))) struct PodAppTests {
  enum Pod: String, CaseIterable {
    case objectiveC = "ObjectiveCPod"
    case swift = "SwiftPod"

    /// Builds the module of the Swift pod, and returns the compiler's options for a pod's app.
    ///
    /// An app of the Objective-C pod imports the SDK into every file, in place of a bridging
    /// header.
    func build(with builder: ProgramBuilder, _ mode: [String]) async throws -> [String] {
      switch self {
      case .objectiveC:
        return ["-import-module", "SequencingOAuth"].flatMap { ["-Xfrontend", $0] }
      case .swift:
        let content = ["Module.swift": "@_exported import SequencingOAuth\n"]
        return [try await builder.buildModule("sequencing_oauth_api_swift", content, mode)]
      }
    }

    /// The texts on the screens between `Signed in` and `Signed out`.
    var texts: [String] {
      switch self {
      case .objectiveC: ["Bearer of demo, refreshable", "Bearer of demo, refreshable", "Refreshed"]
      case .swift: ["Bearer, refreshable", "Bearer, refreshable", "Refreshed"]
      }
    }

    /// The pod's names for which the compiler suggests no replacement.
    var remaining: [String] {
      switch self {
      case .objectiveC:
        [
          "SQAuthResult.sharedInstance()", "SQAuthorizationProtocol", "SQTokenRefreshProtocol",
          "SQTokenUpdater.sharedInstance()", "registrateApplicationParametersCliendID",
        ]
      case .swift:
        [
          "SQAuthResult.instance", "SQTokenUpdater.instance",
          "registrateApplicationParametersClientID",
        ]
      }
    }
  }

  private static let modes = [
    ["-swift-version", "5"], ["-swift-version", "6"],
    ["-swift-version", "6", "-default-isolation", "MainActor"],
  ]

  @Test(arguments: Pod.allCases, modes)
  func `an app compiles and runs unchanged, and also after the compiler's fix-its`(
    pod: Pod, mode: [String]
  ) async throws {
    let builder = try ProgramBuilder()
    let uiKit = try await builder.buildModule("UIKit", Self.files("UIKit"), mode)
    let module = try await pod.build(with: builder, mode)
    let options =
      mode + Fixit.options + ["-Wwarning", "DeprecatedDeclaration", uiKit] + module
    let stage = try Self.files("Stage")

    let app = try Self.files(pod.rawValue)
    let asItIs = try await builder.build("as-it-is", app.merging(stage) { $1 }, options)
    try await check(asItIs, pod)

    let fixits = try await Fixit.all(of: asItIs)
    let fixed = Fixit.apply(fixits, to: app)
    let afterFixits = try await builder.build("fixed", fixed.merging(stage) { $1 }, options)
    try await check(afterFixits, pod)
    #expect(try await Fixit.all(of: afterFixits).isEmpty)
    try checkNames(fixed, pod)
  }

  private func check(_ program: String, _ pod: Pod) async throws {
    let result = try await ChildProcess.run([program])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "Signed in" && lines.last == "Signed out", "\(lines)")
    #expect(lines.dropFirst().dropLast().sorted() == pod.texts, "\(lines)")
  }

  /// Checks that of the pod's names, only those in ``Pod/remaining`` are left.
  private func checkNames(_ files: [String: String], _ pod: Pod) throws {
    let instance = #/SQ\w+\.(sharedInstance\(\)|instance)/#
    let other = #/SQ\w+Protocol(Delegate)?|(registrate|updateAccessTokenW)\w+/#
    let found = files.values.flatMap { text in
      text.split(separator: "\n").filter { !$0.contains("//") }
        .flatMap { line in
          line.matches(of: instance).map { String($0.output.0) }
            + line.matches(of: other).map { String($0.output.0) }
        }
    }
    #expect(Set(found) == Set(pod.remaining))
  }

  private static func files(_ name: String) throws -> [String: String] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Apps/\(name)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
      })
  }
}

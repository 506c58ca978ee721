import ProgramSupport
import TestSupport
import Testing

/// Checks that a project may depend on this package whatever its own targets are called.
///
/// SwiftPM allows the name of a target only once among all packages of a project, and unsafe flags
/// only in packages on the same disk.
@Suite(
  .timeLimit(.minutes(10)),
  .disabled(if: isSanitized, "the packages are the same without a sanitizer"))
struct TargetNamesTests {
  @Test func `a project that uses every library may have targets with common names`() async throws {
    let libraries = try await PackageManifest.read().libraries
    try #require(libraries.contains("OAuthSandbox"))
    let answer = try await NamesakePackage(libraries: libraries).load()
    #expect(answer.status == 0, "\(answer.errors)")
  }

  @Test(arguments: [("SQBasics", "Basics"), ("SQHTTP2", "HTTP2"), ("CSQZlib", "CZlib")])
  func `SwiftPM rejects this package if one of its targets has a common name`(
    target: String, name: String
  ) async throws {
    let libraries = try await PackageManifest.read().libraries
    let answer = try await NamesakePackage(libraries: libraries, renaming: [target: name]).load()
    #expect(answer.status != 0)
    #expect(answer.errors.contains("declare targets with a conflicting name: '\(name)"))
  }

  @Test func `no target that apps build has flags that SwiftPM rejects in a dependency`()
    async throws
  {
    let manifest = try await PackageManifest.read(environment: ["SQ_OPTIMIZED": nil])
    #expect(manifest.targetsWithUnsafeFlags.isDisjoint(with: manifest.targetsOfProducts))
    let optimized = try await PackageManifest.read(environment: ["SQ_OPTIMIZED": "1"])
    #expect(optimized.targetsWithUnsafeFlags.contains("SequencingOAuth"), "the test sees flags")
  }

  @Test func `the name of each target that apps build begins with a prefix of this package`()
    async throws
  {
    let prefixes = ["SQ", "CSQ", "SequencingOAuth", "OAuthSandbox", "sq-"]
    let targets = try await PackageManifest.read().targetsOfProducts
    #expect(targets.isSuperset(of: ["sq-demo", "SQBasics", "CSQSockets"]))
    for target in targets {
      #expect(prefixes.contains(where: target.hasPrefix), "give \(target) a prefix of \(prefixes)")
    }
  }
}

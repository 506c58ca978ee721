import Foundation
package import Testing

/// The rule for tests that need something special: without it, they are skipped, or fail with
/// `CI=true`.
package enum Requirement {
  /// Returns whether a test can run.
  ///
  /// Throws instead of returning `false` if every test must run.
  package static func isMet(_ condition: Bool, _ what: String) throws -> Bool {
    if !condition, ProcessInfo.processInfo.environment["CI"] == "true" {
      throw RequirementNotMet(what: what)
    }
    return condition
  }
}

/// The error if a test must run but cannot.
struct RequirementNotMet: Error, CustomStringConvertible {
  let what: String
  var description: String {
    "with CI=true every test must run, but this machine lacks \(what)"
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test with a reason if a condition does not hold.
  ///
  /// With `CI=true`, the test fails instead.
  package static func requires(
    _ what: String, _ condition: @autoclosure @escaping @Sendable () -> Bool
  ) -> Self {
    .enabled("needs \(what)") { try Requirement.isMet(condition(), what) }
  }

  /// Skips the test with a reason if an attempt fails.
  ///
  /// With `CI=true`, the test fails instead.
  package static func requires(
    _ what: String, _ attempt: @escaping @Sendable () async throws -> Bool
  ) -> Self {
    .enabled("needs \(what)") { try Requirement.isMet(await attempt(), what) }
  }
}

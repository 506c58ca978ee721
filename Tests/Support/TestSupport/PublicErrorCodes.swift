import Foundation
package import SequencingOAuth

/// The error codes that the SDK declares for apps, read from its sources.
package enum PublicErrorCodes {
  /// Returns the name and the code of each declaration.
  package static func all() throws -> [(name: String, code: SQOAuthError.Code)] {
    let files = try PackageSources.paths(in: "Sources/SequencingOAuth")
      .filter { $0.split(separator: "/").last?.hasPrefix("SQOAuthError+") == true }
    return try files.flatMap { file in
      let text = try PackageSources.text(of: file)
      return text.matches(of: /public static let (\w+) = Self\(\s*rawValue: "(\w+)"\)/).map {
        (String($0.1), SQOAuthError.Code(rawValue: String($0.2)))
      }
    }
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension AccountRecord {
  /// Encodes the record as JSON for a store; equal records give equal bytes.
  package func json() throws(SQOAuthError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(self)
    } catch {
      throw SQOAuthError(.storeFailed, "the record cannot be encoded", cause: error)
    }
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension AccountRecord {
  /// The record as a store keeps it, the same bytes for the same record.
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

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encodes a value as one line of JSON, with its members sorted by name.
func oneLineOfJSON(_ value: some Encodable) throws(Failure) -> String {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  } catch {
    throw Failure("output_failed", "the result cannot be written as JSON", status: .notAuthorized)
  }
}

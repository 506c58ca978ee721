package import SQFoundation

extension Sequence<String> {
  /// Returns the ids in the order of their UTF-8 bytes.
  package func inByteOrder() -> [String] {
    sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns at most `limit` ids, in the order of their UTF-8 bytes.
  ///
  /// They are the first ids whose bytes come after `key`; without a `key`, the first of all ids.
  package func page(after key: Data?, limit: Int) -> [String] {
    let rest = filter { id in key?.lexicographicallyPrecedes(id.utf8) ?? true }
    return Array(rest.inByteOrder().prefix(Swift.max(0, limit)))
  }
}

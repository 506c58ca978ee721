extension Sequence<String> {
  /// Returns the ids after a given id, in the order of their UTF-8 bytes.
  func page(after id: String?, limit: Int) -> [String] {
    let rest = filter { other in id?.utf8.lexicographicallyPrecedes(other.utf8) ?? true }
    return Array(
      rest.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(Swift.max(0, limit)))
  }
}

extension Sequence<AccountRecord> {
  /// Returns at most `limit` records after an id, in the order of the ids' UTF-8 bytes.
  package func page(after id: String?, limit: Int) -> [AccountRecord] {
    let rest = filter { other in id?.utf8.lexicographicallyPrecedes(other.id.utf8) ?? true }
    return Array(
      rest.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.prefix(Swift.max(0, limit)))
  }
}

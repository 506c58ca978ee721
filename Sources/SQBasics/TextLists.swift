extension String {
  /// The words of a list with spaces between them, such as scopes.
  package var words: [String] {
    utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
  }
}

extension Sequence<String> {
  /// Returns the texts in their order without repetitions, compared by their code points.
  package func withoutRepeats() -> [String] {
    var seen: Set<ExactText> = []
    return filter { seen.insert(ExactText($0)).inserted }
  }
}

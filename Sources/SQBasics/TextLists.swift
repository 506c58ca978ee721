extension String {
  /// The words of a list with spaces between them, such as scopes.
  package var words: [String] { split(separator: " ").map(String.init) }
}

extension Sequence<String> {
  /// Returns the texts in their order without repetitions, compared by their code points.
  package func withoutRepeats() -> [String] {
    var seen: Set<ExactText> = []
    return filter { seen.insert(ExactText($0)).inserted }
  }
}

/// Functions that find the word that the user probably meant to type.
enum Suggestion {
  /// The maximum length of a word that is compared, in letters.
  private static let longest = 40

  /// Returns a question that suggests the most similar word, or an empty text.
  static func question(_ word: String, among words: [String]) -> String {
    nearest(to: word, among: words).map { "; did you mean \($0)?" } ?? ""
  }

  /// Returns the most similar word, or `nil` if no word is similar.
  ///
  /// A similar word differs in one letter, or in at most a third of the typed letters. If the user
  /// typed at least three letters, a word that begins with them comes first. Letter case and
  /// leading dashes are ignored. The result is also `nil` if there are fewer than 2 or more than 40
  /// typed letters.
  static func nearest(to word: String, among words: [String]) -> String? {
    let typed = letters(word)
    guard (2...longest).contains(typed.count) else { return nil }
    let candidates = words.map { candidate in
      let letters = letters(candidate)
      let isStart = typed.count > 2 && letters.starts(with: typed)
      return (word: candidate, distance: isStart ? 0 : distance(typed, letters))
    }
    guard let nearest = candidates.min(by: { $0.distance < $1.distance }),
      nearest.distance <= max(1, typed.count / 3)
    else { return nil }
    return nearest.word
  }

  private static func letters(_ word: String) -> [Character] {
    Array(word.lowercased().drop { $0 == "-" })
  }

  /// Returns the number of changes that make one word from the other.
  ///
  /// A change adds, removes or replaces a letter, or swaps two adjacent letters.
  static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (row, letter) in one.enumerated() {
      var next = [row + 1]
      for (column, otherLetter) in other.enumerated() {
        var least = min(
          last[column] + (letter == otherLetter ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, letter == other[column - 1], one[row - 1] == otherLetter {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      (before, last) = (last, next)
    }
    return last[other.count]
  }
}

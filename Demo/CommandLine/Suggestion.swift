/// Finds the word that a misspelt one was meant to be.
enum Suggestion {
  /// Longer words are not compared.
  private static let longest = 40

  /// What to write after an error about an unknown word: the likeliest word as a question, or nothing.
  static func question(_ word: String, among words: [String]) -> String {
    nearest(to: word, among: words).map { "; did you mean \($0)?" } ?? ""
  }

  /// The word that differs least, or `nil` when each of them differs in more than a third.
  ///
  /// A word that begins with what was typed comes first. Case and leading dashes do not count.
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

  /// How many letters have to be added, removed, replaced or swapped with their neighbour.
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

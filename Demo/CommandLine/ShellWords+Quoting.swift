import SQBasics

extension ShellWords {
  /// Quotes a word for a shell, if necessary.
  static func quote(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
        || "_-.,:/@%+=".unicodeScalars.contains($0)
    }
    guard !isPlain || word.isEmpty else { return word }
    return "'" + word.replacingScalar("'", with: #"'\''"#) + "'"
  }
}

extension String {
  /// Returns the text with another text in place of each occurrence of a scalar.
  ///
  /// `replacing("'", with: …)` would miss a quote that a combining mark follows, because both form
  /// one `Character`.
  package func replacingScalar(_ scalar: Unicode.Scalar, with other: String) -> String {
    var text = UnicodeScalarView()
    for next in unicodeScalars {
      if next == scalar {
        text.append(contentsOf: other.unicodeScalars)
      } else {
        text.append(next)
      }
    }
    return String(text)
  }
}

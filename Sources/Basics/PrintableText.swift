extension String {
  /// The text in a form that is safe to show: without control characters, at most 500 characters
  /// long.
  ///
  /// Use it for texts from servers, file names and the environment, which may contain anything.
  package var printable: String { printable(atMost: 500) }

  /// The text without control characters, and with at most `count` of the other characters.
  package func printable(atMost count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.lazy.filter(\.isPrintable).prefix(count)))
  }
}

extension Unicode.Scalar {
  /// Whether the character is visible or a space; it must not change a terminal's text direction or
  /// lines.
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}

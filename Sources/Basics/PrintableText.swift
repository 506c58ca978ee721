extension String {
  /// The text as it may be shown: without control characters, and cut at 500 characters.
  ///
  /// It is for what a server, a file's name or the environment says, which may hold anything.
  package var printable: String { printable(atMost: 500) }

  /// The text without control characters, and with no more than so many of the others.
  package func printable(atMost count: Int) -> String {
    String(UnicodeScalarView(unicodeScalars.lazy.filter(\.isPrintable).prefix(count)))
  }
}

extension Unicode.Scalar {
  /// Whether the scalar shows itself, and changes neither the direction nor the lines of a terminal.
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}

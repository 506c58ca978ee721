import SQBasics

/// A table of files with one line per file: ID, size in bytes, date and title.
///
/// The title is last, because it may contain spaces. A dash stands for an unknown value. A terminal
/// and a script get the same table.
struct FileTable {
  let text: String

  init(_ files: [DriveFile]) {
    let rows = files.map { file in
      [
        Self.word(file.id), file.size.map(String.init) ?? "-", Self.word(file.modified ?? "-"),
        file.title.onScreen,
      ]
    }
    let widths = (0..<3).map { column in
      rows.map { TextLayout.columns($0[column]) }.max() ?? 0
    }
    text = rows.map { row in
      [
        row[0].padded(to: widths[0]), row[1].padded(to: widths[1], onTheLeft: true),
        row[2].padded(to: widths[2]), row[3],
      ].joined(separator: "  ")
    }.joined(separator: "\n")
  }

  /// Returns a server's text as one column, without spaces.
  private static func word(_ text: String) -> String {
    text.isEmpty ? "-" : text.onScreen.replacingScalar(" ", with: "_")
  }
}

extension String {
  /// Returns the text with spaces after or before it, up to a width.
  func padded(to width: Int, onTheLeft: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - TextLayout.columns(self)))
    return onTheLeft ? space + self : self + space
  }
}

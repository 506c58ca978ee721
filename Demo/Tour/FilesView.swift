/// The part of the main screen about the files.
struct FilesView {
  let files: Coordinator.Files
  /// The maximum number of files that are shown.
  var most = MainExtent.whole.files
  /// The maximum number of lines for the reason of a failure.
  var linesOfText = Int.max

  func lines(_ canvas: Canvas) -> [Line] {
    switch files {
    case .unread, .reading:
      return [canvas.field("files", Span("reading", .faint))]
    case .failed(let code, let message):
      return canvas.field(
        "files",
        canvas.lines(
          "\(message) (\(code))", indent: Canvas.fieldIndent, atMost: linesOfText, .warning))
    case .read([], _):
      return [canvas.field("files", "none")]
    case .read(let files, let isAll):
      return canvas.field(
        "files",
        files.prefix(most).map { line($0, canvas) }
          + [rest(files.count, isAll).map { Line(Span($0, .faint)) }].compactMap(\.self))
    }
  }

  /// Returns the number of hidden files in words, or `nil` if all are shown.
  private func rest(_ count: Int, _ isAll: Bool) -> String? {
    let atLeast = isAll ? "" : "at least "
    switch count - most {
    case count: return "\(atLeast)\(count), no room to list them"
    case 1...: return "and \(atLeast)\(count - most) more"
    default: return isAll ? nil : "and more"
    }
  }

  /// Returns a line with a title, and the size at the end.
  private func line(_ file: DriveFile, _ canvas: Canvas) -> Line {
    let size = file.size.map { ByteCount.inWords($0) } ?? ""
    let width = max(1, canvas.width - Canvas.fieldIndent - TextLayout.columns(size) - 2)
    let title = TextLayout.fit(
      file.title.onScreen, width: width, ellipsis: canvas.glyphs.ellipsis)
    return Line(Span(title.padded(to: width + 2)), Span(size, .faint))
  }
}

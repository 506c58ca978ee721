/// How the main screen shows the files.
struct FilesView {
  /// As many as a small terminal has room for.
  private static let most = 5

  let files: Coordinator.Files

  func lines(_ canvas: Canvas) -> [Line] {
    switch files {
    case .unread, .reading:
      return [canvas.field("files", Span("reading", .faint))]
    case .failed(let code, let message):
      let width = canvas.width - Canvas.fieldIndent
      return canvas.field(
        "files",
        TextLayout.wrap("\(code): \(message)".printable, width: width)
          .map { Line(Span($0, .warning)) })
    case .read([], _):
      return [canvas.field("files", "none")]
    case .read(let files, let isAll):
      let more = files.count - Self.most
      let rest = more > 0 ? "and \(isAll ? "" : "at least ")\(more) more" : isAll ? nil : "and more"
      return canvas.field(
        "files",
        files.prefix(Self.most).map { line($0, canvas) }
          + [rest.map { Line(Span($0, .faint)) }].compactMap(\.self))
    }
  }

  /// A title, and its size at the end of the line.
  private func line(_ file: DriveFile, _ canvas: Canvas) -> Line {
    let size = file.size.map { ByteCount.inWords($0) } ?? ""
    let width = max(1, canvas.width - Canvas.fieldIndent - TextLayout.columns(size) - 2)
    let title = TextLayout.fit(
      file.title.printable, width: width, ellipsis: canvas.glyphs.ellipsis)
    return Line(Span(title.padded(to: width + 2)), Span(size, .faint))
  }
}

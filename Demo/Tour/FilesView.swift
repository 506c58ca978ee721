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
      return column(
        TextLayout.wrap("\(code): \(message)".printable, width: width)
          .map { Line(Span($0, .warning)) }, canvas)
    case .read([], _):
      return [canvas.field("files", "none")]
    case .read(let files, let isAll):
      let more = files.count - Self.most
      let rest = more > 0 ? "and \(isAll ? "" : "at least ")\(more) more" : isAll ? nil : "and more"
      return column(
        files.prefix(Self.most).map { line($0, canvas) }
          + [rest.map { Line(Span($0, .faint)) }].compactMap(\.self), canvas)
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

  /// The lines below each other, behind the name of the field.
  private func column(_ lines: [Line], _ canvas: Canvas) -> [Line] {
    lines.enumerated().map { index, line in
      Line(
        spans: canvas.field(index == 0 ? "files" : "", Span("")).spans.prefix(1) + line.spans)
    }
  }
}

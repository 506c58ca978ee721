/// A whole screen: a head, a body and the keys, made to fit the terminal.
struct Page: Sendable, Equatable {
  /// The columns left free on either side.
  static let margin = 2

  var title: String
  var status: Span
  var body: [Line]
  var keys: [KeyHint]

  /// The lines from the top, none wider than the terminal and no more than it has rows.
  func lines(_ canvas: Canvas, columns: Int, rows: Int) -> [Line] {
    let foot = [canvas.rule] + canvas.keys(keys)
    let head = [.blank, headline(canvas), canvas.rule]
    // On a small terminal the spaces go first, then the end of the body; the keys stay.
    var body = [.blank] + body + [.blank]
    var room = rows - foot.count - head.count
    if Self.height(body, columns) > room { body.removeAll { $0 == .blank } }
    var shown = head
    for line in body {
      room -= Self.height([line], columns)
      guard room >= 0 else { break }
      shown.append(line)
    }
    return (shown + foot).prefix(max(0, rows)).map { $0.fitted(canvas.width, canvas.glyphs) }
  }

  /// The title on the left and the status on the right, as far as there is room for both.
  private func headline(_ canvas: Canvas) -> Line {
    let gap = canvas.width - TextLayout.columns(title) - TextLayout.columns(status.text)
    guard gap >= 2 else { return Line(Span(title, .heading)) }
    return Line(
      Span(title, .heading), Span(String(repeating: " ", count: gap)), status)
  }

  private static func height(_ lines: [Line], _ columns: Int) -> Int {
    lines.reduce(0) { total, line in
      guard line.isAddress, columns > 0 else { return total + 1 }
      return total + (TextLayout.columns(line.text) + columns - 1) / columns
    }
  }
}

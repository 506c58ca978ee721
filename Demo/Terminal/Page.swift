/// A whole screen that fits into the terminal: a head, a body, and the keys to press.
struct Page: Sendable, Equatable {
  /// The free columns on each side.
  static let margin = 2

  var title: String
  var status: Span
  var body: [Line]
  /// Shorter bodies for terminals with few rows; the first body that fits is shown, else the last.
  var shorterBodies: [[Line]] = []
  var keys: [KeyHint]

  /// Returns the lines from the top, not wider than the terminal and not more than its rows.
  ///
  /// On a terminal with few rows, the empty lines are dropped first. Then a shorter body replaces
  /// the body. Then the least important lines are dropped, and finally the end of the body. The
  /// keys stay. An address is always complete, if necessary alone on the screen without the keys.
  func lines(_ canvas: Canvas, columns: Int, rows: Int) -> [Line] {
    var foot = [canvas.rule] + canvas.keys(keys)
    var body = body(canvas, columns, room: rows - foot.count)
    func isTooHigh() -> Bool { Self.height(body + foot, columns) > rows }
    for weight in Weight.allCases.dropLast() where isTooHigh() {
      body.removeAll { $0.weight == weight }
      foot.removeAll { $0.weight == weight }
    }
    if isTooHigh(), body.contains(where: \.isAddress) {
      body.removeAll { !$0.isAddress }
      if isTooHigh() { foot = [] }
    }
    let start = Self.start(of: body, rows: rows - foot.count, columns)
    let shown = start.count < body.count ? Self.cutOff(start, canvas) : start
    return (shown + foot).prefix(max(0, rows))
      .map { $0.fitted(canvas.width, canvas.glyphs) }
  }

  /// Returns the head and the longest body that fits, without empty lines if necessary.
  private func body(_ canvas: Canvas, _ columns: Int, room: Int) -> [Line] {
    let head = [.blank, headline(canvas), canvas.rule, .blank]
    let whole = head + body + [.blank]
    if Self.height(whole, columns) <= room { return whole }
    var shorter: [Line] = []
    for body in [body] + shorterBodies {
      shorter = (head + body).filter { !$0.isBlank }
      if Self.height(shorter, columns) <= room { break }
    }
    return shorter
  }

  /// Returns the first lines, as many as fit.
  private static func start(of lines: [Line], rows: Int, _ columns: Int) -> [Line] {
    var room = rows
    return Array(
      lines.prefix { line in
        room -= height([line], columns)
        return room >= 0
      })
  }

  /// Returns the lines with an ellipsis at the end of the last one.
  private static func cutOff(_ lines: [Line], _ canvas: Canvas) -> [Line] {
    guard let last = lines.last, !last.isAddress else { return lines }
    return lines.dropLast() + [Line(spans: last.spans + [Span(canvas.glyphs.ellipsis)])]
  }

  /// Returns the title on the left and, if both fit, the status on the right.
  private func headline(_ canvas: Canvas) -> Line {
    let gap = canvas.width - TextLayout.columns(title) - TextLayout.columns(status.text)
    guard gap >= 2 else { return Line(Span(title, .heading)).weighing(.title) }
    return Line(
      Span(title, .heading), Span(String(repeating: " ", count: gap)), status
    ).weighing(.title)
  }

  private static func height(_ lines: [Line], _ columns: Int) -> Int {
    lines.reduce(0) { $0 + $1.height(columns) }
  }
}

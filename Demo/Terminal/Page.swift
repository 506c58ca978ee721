/// A whole screen: a head, a body and the keys, made to fit the terminal.
struct Page: Sendable, Equatable {
  /// The columns left free on either side.
  static let margin = 2

  var title: String
  var status: Span
  var body: [Line]
  /// What is shown instead of the body where that has no room: the first that has, or the last.
  var shorterBodies: [[Line]] = []
  var keys: [KeyHint]

  /// The lines from the top, none wider than the terminal and no more than it has rows.
  ///
  /// On a low terminal the spaces go first; then a shorter body takes the body's place; then what
  /// weighs little goes, and then the end of the body. The keys stay. An address has to be whole: it
  /// stays alone when it must, even without the keys.
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
    return (Self.start(of: body, rows: rows - foot.count, columns) + foot).prefix(max(0, rows))
      .map { $0.fitted(canvas.width, canvas.glyphs) }
  }

  /// The head and the longest body that has room, without spaces if it must.
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

  /// As many of the first lines as there is room for.
  private static func start(of lines: [Line], rows: Int, _ columns: Int) -> [Line] {
    var room = rows
    return Array(
      lines.prefix { line in
        room -= height([line], columns)
        return room >= 0
      })
  }

  /// The title on the left and the status on the right, as far as there is room for both.
  private func headline(_ canvas: Canvas) -> Line {
    let gap = canvas.width - TextLayout.columns(title) - TextLayout.columns(status.text)
    guard gap >= 2 else { return Line(Span(title, .heading)).weighing(.title) }
    return Line(
      Span(title, .heading), Span(String(repeating: " ", count: gap)), status
    ).weighing(.title)
  }

  private static func height(_ lines: [Line], _ columns: Int) -> Int {
    lines.reduce(0) { total, line in
      guard line.isAddress, columns > 0 else { return total + 1 }
      return total + (TextLayout.columns(line.text) + columns - 1) / columns
    }
  }
}

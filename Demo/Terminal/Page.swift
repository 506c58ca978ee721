/// A whole screen: a head, a body and the keys, made to fit the terminal.
struct Page: Sendable, Equatable {
  /// The columns left free on either side.
  static let margin = 2

  var title: String
  var status: Span
  var body: [Line]
  var keys: [KeyHint]

  /// The lines from the top, none wider than the terminal and no more than it has rows.
  ///
  /// On a low terminal the spaces go first, then what weighs little, then the end of the body; the
  /// keys stay. An address has to be whole: it stays alone when it must, even without the keys.
  func lines(_ canvas: Canvas, columns: Int, rows: Int) -> [Line] {
    var foot = [canvas.rule] + canvas.keys(keys)
    let room = rows - foot.count
    var body = [.blank, headline(canvas), canvas.rule, .blank] + body + [.blank]
    if Self.height(body, columns) > room { body.removeAll { $0 == .blank } }
    for weight in Weight.allCases.dropLast() where Self.height(body, columns) > room {
      body.removeAll { $0.weight == weight }
    }
    if let address = body.firstIndex(where: \.isAddress), Self.height(body, columns) > room {
      let lead = body[..<address].filter { $0 != canvas.rule }
      if Self.height([body[address]], columns) > room { foot = [] }
      body = Self.end(of: lead + [body[address]], rows: rows - foot.count, columns)
    }
    return (Self.start(of: body, rows: rows - foot.count, columns) + foot).prefix(max(0, rows))
      .map { $0.fitted(canvas.width, canvas.glyphs) }
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

  /// As many of the last lines as there is room for.
  private static func end(of lines: [Line], rows: Int, _ columns: Int) -> [Line] {
    start(of: lines.reversed(), rows: rows, columns).reversed()
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

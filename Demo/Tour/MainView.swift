import SQBasics
import SQFoundation
import SequencingOAuth

/// The view that draws the main screen.
struct MainView {
  let main: Coordinator.Main
  let date: Date
  let server: TourServer

  func page(_ canvas: Canvas) -> Page {
    Page(
      title: "SequencingOAuth demo",
      status: main.isRefreshing ? Span("refreshing", .warning) : Span("signed in", .good),
      body: body(.whole, canvas), shorterBodies: MainExtent.shorter.map { body($0, canvas) },
      keys: [KeyHint("r", "refresh"), KeyHint("f", "read files")]
        + callKeys + [KeyHint("v", "revoke")]
        + (server.isSandbox ? [KeyHint("e", "end the session at the server")] : [])
        + [KeyHint("o", "sign out"), KeyHint("q", "quit")])
  }

  private var callKeys: [KeyHint] {
    guard main.call != nil else { return [] }
    let bad = server.isSandbox ? [KeyHint("b", "call with a bad token")] : []
    return [KeyHint("c", "call")] + bad
  }

  private func body(_ extent: MainExtent, _ canvas: Canvas) -> [Line] {
    let files = FilesView(files: main.files, most: extent.files, linesOfText: extent.linesOfText)
    let call = main.call.map { CallView(call: $0, most: extent.linesOfText).lines(canvas) } ?? []
    return heading(canvas) + (extent.hasFacts ? facts(canvas) : [])
      + expiry(canvas, hasBar: extent.hasBar).weighing(.reason)
      + files.lines(canvas).weighing(.context) + call.weighing(.needed)
      + outlook(canvas, extent) + news(canvas, extent)
  }

  private func heading(_ canvas: Canvas) -> [Line] {
    let text = main.user.map { "Signed in as \($0)" } ?? "Signed in"
    let line = Line(Span(canvas.glyphs.success + " ", .good), Span(text, .heading))
    return [line.weighing(.detail), .blank]
  }

  private func facts(_ canvas: Canvas) -> [Line] {
    LoginView.account(server, canvas) + [
      canvas.field("scope", Span(token.scopesInWords)),
      canvas.field("token", Span("\(token.bindingInWords ?? token.tokenType), \(refreshing)")),
    ]
  }

  /// Returns the remaining time, with a bar if the token's whole lifetime is known.
  private func expiry(_ canvas: Canvas, hasBar: Bool) -> [Line] {
    let left = fractionLeft
    let style: Style =
      switch left ?? 0 {
      case 0.2...: .good
      case 0.0000001...: .warning
      default: .bad
      }
    let isExpired = token.isExpired(at: date)
    let words = isExpired ? "expired\(advice)" : token.expiryInWords(at: date)
    let field = canvas.field("expires", Span(words, isExpired ? .bad : .plain))
    guard hasBar, let left else { return [field] }
    let margin = Span(String(repeating: " ", count: Canvas.fieldIndent))
    let width = max(1, canvas.width - Canvas.fieldIndent)
    return [field, Line(spans: [margin] + canvas.bar(left, width: width, style))]
  }

  private var advice: String {
    canBeRefreshed ? "; it is refreshed as soon as possible" : "; sign out and in again"
  }

  /// Returns the lines about what happened at the server and what will happen next.
  private func outlook(_ canvas: Canvas, _ extent: MainExtent) -> [Line] {
    guard main.isOverAtServer else {
      guard canBeRefreshed, token.expirationDate != nil, extent.hasOutlook else { return [] }
      return [.blank]
        + canvas.paragraph("The token is refreshed shortly before it expires.", .faint)
    }
    let next = canBeRefreshed ? "refresh" : "request"
    let outlook = extent.hasOutlook ? " The app learns of it at the next \(next)." : ""
    return [.blank] + canvas.paragraph("The server has ended the session." + outlook, .warning)
  }

  /// Returns the lines about the delegate's notifications, newest first.
  private func news(_ canvas: Canvas, _ extent: MainExtent) -> [Line] {
    guard !main.news.isEmpty else { return [] }
    return [.blank]
      + main.news.prefix(extent.news).flatMap { lines($0, atMost: extent.linesOfText, canvas) }
  }

  private func lines(
    _ news: Coordinator.News, atMost most: Int, _ canvas: Canvas
  ) -> [Line] {
    let age = SQToken.inWords(seconds: max(0, Int(date.timeIntervalSince(news.date)))) + " ago"
    switch news.kind {
    case .refreshed:
      return [
        Line(
          Span(canvas.glyphs.success, .good), " Token refreshed", Span("  \(age)", .faint))
      ]
    case .failed(let code, let message):
      return failure("Refresh failed", age, reason(code, message, most, canvas), canvas)
    case .notRevoked(let code, let message):
      return failure("Revocation failed", age, reason(code, message, most, canvas), canvas)
    }
  }

  private func failure(
    _ what: String, _ age: String, _ reason: [Line], _ canvas: Canvas
  ) -> [Line] {
    [Line(Span(canvas.glyphs.failure, .bad), Span(" " + what), Span("  \(age)", .faint))] + reason
  }

  private func reason(
    _ code: String, _ message: String, _ most: Int, _ canvas: Canvas
  ) -> [Line] {
    canvas.lines("\(message) (\(code))", indent: 2, atMost: most, .warning)
      .map { Line(spans: ["  "] + $0.spans) }
  }

  private var token: SQToken { main.token }
  private var refreshing: String { canBeRefreshed ? "can be refreshed" : "no refresh token" }
  private var canBeRefreshed: Bool { token.refreshToken != nil }

  private var fractionLeft: Double? {
    guard let end = token.expirationDate, let start = token.issueDate, end > start else {
      return nil
    }
    return end.timeIntervalSince(date) / end.timeIntervalSince(start)
  }
}

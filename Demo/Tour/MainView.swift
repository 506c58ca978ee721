import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How the main screen looks.
struct MainView {
  let token: SQToken
  let user: String?
  let date: Date

  func page(_ canvas: Canvas) -> Page {
    Page(
      title: "SequencingOAuth demo", status: Span("signed in", .good),
      body: heading(canvas) + facts(canvas) + expiry(canvas),
      keys: [KeyHint("o", "sign out"), KeyHint("q", "quit")])
  }

  private func heading(_ canvas: Canvas) -> [Line] {
    let text = user.map { "Signed in as \($0)" } ?? "Signed in"
    return [Line(Span(canvas.glyphs.success + " ", .good), Span(text, .heading)), .blank]
  }

  private func facts(_ canvas: Canvas) -> [Line] {
    let refresh = token.refreshToken == nil ? "no refresh token" : "can be refreshed"
    return [
      canvas.field("scope", Span(token.scopesInWords)),
      canvas.field("token", Span("\(token.tokenType), \(refresh)")),
    ]
  }

  /// The time that is left, as a bar where its whole length is known.
  private func expiry(_ canvas: Canvas) -> [Line] {
    let left = fractionLeft
    let style: Style =
      switch left ?? 0 {
      case 0.2...: .good
      case 0.0000001...: .warning
      default: .bad
      }
    let words =
      token.isExpired(at: date) ? "expired; sign out and in again" : token.expiryInWords(at: date)
    let field = canvas.field("expires", Span(words, token.isExpired(at: date) ? .bad : .plain))
    guard let left else { return [field] }
    let margin = Span(String(repeating: " ", count: Canvas.fieldIndent))
    let width = max(1, canvas.width - Canvas.fieldIndent)
    return [field, Line(spans: [margin] + canvas.bar(left, width: width, style))]
  }

  private var fractionLeft: Double? {
    guard let end = token.expirationDate, let start = token.issueDate, end > start else {
      return nil
    }
    return end.timeIntervalSince(date) / end.timeIntervalSince(start)
  }
}

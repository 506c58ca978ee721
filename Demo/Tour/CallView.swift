/// How the main screen shows the gRPC call.
struct CallView {
  let call: Coordinator.Call

  func lines(_ canvas: Canvas) -> [Line] {
    switch call {
    case .notMade: []
    case .waiting: [canvas.field("rpc", Span(RPCServer.waiting, .faint))]
    case .done(let sentence): field(sentence, .plain, canvas)
    case .failed(let message): field(message, .warning, canvas)
    }
  }

  private func field(_ text: String, _ style: Style, _ canvas: Canvas) -> [Line] {
    canvas.field(
      "rpc",
      text.split(separator: "\n").flatMap {
        TextLayout.wrap($0.printable, width: canvas.width - Canvas.fieldIndent)
          .map { Line(Span($0, style)) }
      })
  }
}

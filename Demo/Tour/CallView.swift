/// The part of the main screen about the gRPC call.
struct CallView {
  let call: Coordinator.Call
  /// The maximum number of lines of the answer.
  var most = Int.max

  func lines(_ canvas: Canvas) -> [Line] {
    switch call {
    case .notMade: []
    case .waiting: [canvas.field("rpc", Span(RPCServer.waiting, .faint))]
    case .done(let sentence): field(sentence, .plain, canvas)
    case .failed(let message): field(message, .warning, canvas)
    }
  }

  private func field(_ text: String, _ style: Style, _ canvas: Canvas) -> [Line] {
    let paragraphs = text.lines.filter { !$0.isEmpty }
    // If few lines are free, join the paragraphs, so that a shortened text ends in an ellipsis.
    let shown = most == Int.max ? paragraphs : [paragraphs.joined(separator: " ")]
    return canvas.field(
      "rpc",
      shown.flatMap { canvas.lines($0, indent: Canvas.fieldIndent, atMost: most, style) })
  }
}

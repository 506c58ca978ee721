import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthPipes

/// The progress of a transfer on one line.
struct ProgressBar: Sendable, Equatable {
  private static let width = 16
  /// The maximum width of the numbers, reserved so that the title always has the same width.
  private static let numbers = "999.9 MB of 999.9 MB, 999.9 MB/s".count

  let title: String

  /// Returns the line: the title, a bar if the total is known, the bytes, and the bytes per second.
  func line(_ progress: TransferProgress, perSecond: Int64? = nil, _ canvas: Canvas) -> Line {
    var spans: [Span] = []
    if let fraction = progress.fraction {
      let percent = "\(Int(fraction * 100))".padded(to: 4, onTheLeft: true)
      spans = canvas.bar(fraction, width: Self.width, .good) + [Span("\(percent) %  ")]
    }
    let room = canvas.width - 2 - spans.reduce(Self.numbers) { $0 + TextLayout.columns($1.text) }
    // If the line is too short, the title is dropped first.
    if room >= 8 {
      let title = TextLayout.fit(title.onScreen, width: room, ellipsis: canvas.glyphs.ellipsis)
      spans.insert(Span(title + "  "), at: 0)
    }
    spans.append(Span(Self.amount(progress), .faint))
    if let perSecond { spans.append(Span(", \(ByteCount.inWords(perSecond))/s", .faint)) }
    return Line(spans: spans).fitted(canvas.width, canvas.glyphs)
  }

  private static func amount(_ progress: TransferProgress) -> String {
    let completed = ByteCount.inWords(progress.completed)
    guard let total = progress.total, progress.completed < total else { return completed }
    return "\(completed) of \(ByteCount.inWords(total))"
  }
}

extension Console {
  /// Runs a transfer and, if standard error is a terminal, shows the progress there.
  func showingProgress<Value>(
    of title: String,
    _ work: ((@Sendable (TransferProgress) -> Void)?) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let environment = ProcessInfo.processInfo.environment
    guard errors.isTerminal, Appearance.canDraw(environment: environment) else {
      return try await work(nil)
    }
    let (reports, continuation) = AsyncStream.makeStream(
      of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
    let drawing = Task { [self] in
      await draw(ProgressBar(title: title), reports, Appearance(environment: environment))
    }
    let outcome = await Result.of { () throws(Failure) in
      try await work { continuation.yield($0) }
    }
    continuation.finish()
    await drawing.value
    return try outcome.get()
  }

  /// Draws each report over the previous one, at most ten per second, and always draws the last.
  private func draw(
    _ bar: ProgressBar, _ reports: AsyncStream<TransferProgress>, _ appearance: Appearance
  ) async {
    let start = ContinuousClock.now
    var first: TransferProgress?
    var drawn: ContinuousClock.Instant?
    var waiting: TransferProgress?
    func show(_ progress: TransferProgress) {
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let moved = Double(progress.completed - (first?.completed ?? 0))
      let line = bar.line(
        progress, perSecond: seconds < 1 ? nil : Int64(moved / seconds),
        Canvas(columns: errors.size.columns, glyphs: appearance.glyphs))
      try? errors.write("\r\(line.encoded(appearance.colours))\u{1B}[K")
      drawn = .now
      waiting = nil
    }
    // Draw nothing before the first bytes move, because a sign-in may still use the terminal.
    for await progress in reports where progress.completed > 0 || progress.total == 0 {
      first = first ?? progress
      if let drawn, ContinuousClock.now - drawn < .milliseconds(100) {
        waiting = progress
      } else {
        show(progress)
      }
    }
    if let waiting { show(waiting) }
    if drawn != nil { try? errors.write("\n") }
  }
}

import SQBasics
import SQFoundation

/// The position in a scripted reply.
struct ScriptCursor {
  private var steps: ArraySlice<LoopbackStep>

  init(_ steps: [LoopbackStep]) {
    self.steps = steps[...]
  }

  /// Removes all `send` steps up to the next step of another kind, and returns their data.
  mutating func nextSends() -> [Data] {
    var sends: [Data] = []
    while case .send(let data) = steps.first {
      sends.append(data)
      steps.removeFirst()
    }
    return sends
  }

  /// Removes and returns the next step; a `sendForever` step stays and is returned each time.
  mutating func next() -> LoopbackStep? {
    if case .sendForever = steps.first { return steps.first }
    return steps.popFirst()
  }
}

extension Connection {
  /// The number of bytes that an endless step sends before other connections get their turn.
  private static let turnBytes = 256 * 1024

  /// Runs the script's steps until a step must wait or the client's receive window is full.
  func continueScript(now: UInt64) {
    guard case .scripted(var cursor) = phase, output.isEmpty else { return }
    for data in cursor.nextSends() { output.append(data) }
    guard output.isEmpty else {
      phase = .scripted(cursor)
      deadline = Monotonic.never
      // The loop calls this method again when everything is sent.
      return flush(now: now)
    }
    let step = cursor.next()
    phase = .scripted(cursor)
    switch step {
    case .wait(let duration): expect(duration, from: now)
    case .reset: reset()
    case .sendForever(let data):
      // The bytes are only queued; the loop sends them when the socket takes more bytes.
      deadline = Monotonic.never
      if !data.isEmpty { expect(context.limits.idleTime, from: now) }
      output.append(Self.repeated(data))
    case .send, nil:
      phase = .closing
      finishSending(now: now)
    }
  }

  private static func repeated(_ data: Data) -> Data {
    guard !data.isEmpty else { return data }
    var block = Data()
    for _ in 0..<max(1, turnBytes / data.count) { block.append(data) }
    return block
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a scripted reply stands.
struct ScriptCursor {
  private var steps: ArraySlice<LoopbackStep>

  init(_ steps: [LoopbackStep]) {
    self.steps = steps[...]
  }

  /// Everything that is to be sent before anything else happens.
  mutating func nextSends() -> [Data] {
    var sends: [Data] = []
    while case .send(let data) = steps.first {
      sends.append(data)
      steps.removeFirst()
    }
    return sends
  }

  /// Takes the next step; one that repeats for ever stays.
  mutating func next() -> LoopbackStep? {
    if case .sendForever = steps.first { return steps.first }
    return steps.popFirst()
  }
}

extension Connection {
  /// How much of an endless step is handed to the socket before other connections get their turn.
  private static let turnBytes = 256 * 1024

  /// Takes steps until one has to wait, for time or for the peer's window.
  func continueScript(now: Int64) {
    guard case .scripted(var cursor) = phase, output.isEmpty else { return }
    for data in cursor.nextSends() { output.append(data) }
    guard output.isEmpty else {
      phase = .scripted(cursor)
      deadline = Monotonic.never
      // It comes back here when everything is gone.
      return flush(now: now)
    }
    let step = cursor.next()
    phase = .scripted(cursor)
    switch step {
    case .wait(let duration): expect(duration, from: now)
    case .reset: reset()
    case .sendForever(let data):
      // Nothing is sent at once: the loop comes back when the socket takes more.
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

// Any thread may use Dispatch's sources, although their declarations do not say so.
@preconcurrency import Dispatch
import SQLibC

/// The source of the terminal's events: keys, changes of its size, and its end.
final class TerminalInput: Sendable {
  enum Event: Sendable, Equatable {
    case key(Key)
    /// The window's size changed, or the program continues after it was stopped.
    case needsDrawing
    /// The window was closed, so no more events follow.
    case ended
  }

  private let queue = DispatchQueue(label: "sq-demo.terminal")
  private let keys: any DispatchSourceRead
  private let signals: [any DispatchSourceSignal]

  /// Creates a source that delivers events until ``stop()``.
  init(_ handler: @escaping @Sendable (Event) -> Void) {
    keys = DispatchSource.makeReadSource(fileDescriptor: 0, queue: queue)
    signals = [SIGWINCH, SIGCONT].map { [queue] in
      DispatchSource.makeSignalSource(signal: $0, queue: queue)
    }
    keys.setEventHandler { @Sendable [keys] in
      guard let bytes = readAvailable() else {
        keys.cancel()
        return handler(.ended)
      }
      Key.decode(bytes).forEach { handler(.key($0)) }
    }
    keys.activate()
    for source in signals {
      source.setEventHandler { @Sendable in handler(.needsDrawing) }
      source.activate()
    }
  }

  /// Stops the delivery of events, so that no key is read after this method returns.
  func stop() {
    keys.cancel()
    signals.forEach { $0.cancel() }
    queue.sync {}
  }
}

/// Reads the bytes that the terminal has sent, and returns `nil` at its end.
private func readAvailable() -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = bytes.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
  if count < 0, errno == EINTR || errno == EAGAIN { return [] }
  return count > 0 ? Array(bytes[..<count]) : nil
}

// Any thread may use Dispatch's sources, but their declarations do not say so.
@preconcurrency import Dispatch
import Glibc

/// The events of the terminal: keys, its end, and changes of its size.
final class TerminalInput: Sendable {
  enum Event: Sendable, Equatable {
    case key(Key)
    /// The window has another size, or the program continues after it was stopped.
    case needsDrawing
    /// No further event comes: the window was closed.
    case ended
  }

  private let queue = DispatchQueue(label: "sq-demo.terminal")
  private let keys: any DispatchSourceRead
  private let signals: [any DispatchSourceSignal]

  /// Delivers events until ``stop()``.
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

  /// Stops the delivery of events; when it returns, no key is read any more.
  func stop() {
    keys.cancel()
    signals.forEach { $0.cancel() }
    queue.sync {}
  }
}

/// Reads the bytes that the terminal has sent; returns `nil` at its end.
private func readAvailable() -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = bytes.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
  if count < 0, errno == EINTR || errno == EAGAIN { return [] }
  return count > 0 ? Array(bytes[..<count]) : nil
}

import SQBasics
import SQFoundation
package import SequencingOAuth

/// A meter that combines the progress of several attempts into a value that never decreases.
///
/// If a request is sent again, its count starts at zero; the meter reports nothing until the count
/// exceeds its earlier value. Only ``finish(_:)`` reports the complete transfer, because the server
/// may still refuse an attempt that has sent the whole body.
package final class TransferMeter: Sendable {
  private struct State {
    var latest = TransferProgress(completed: 0, total: nil)
    var told: TransferProgress?
    var fraction = 0.0
    var isFinished = false

    /// Records progress; returns whether it must be reported.
    mutating func advance(_ progress: TransferProgress) -> Bool {
      if isFinished { return false }
      latest = progress
      let fraction = progress.fraction ?? self.fraction
      guard progress != told, progress.completed >= told?.completed ?? 0,
        fraction >= self.fraction, progress.fraction ?? 0 < 1
      else { return false }
      told = progress
      self.fraction = fraction
      return true
    }

    mutating func finish(_ total: Int64?) -> TransferProgress? {
      if isFinished { return nil }
      isFinished = true
      let total = total ?? latest.total ?? latest.completed
      return TransferProgress(completed: total, total: total)
    }
  }

  private let report: @Sendable (TransferProgress) -> Void
  private let state = Locked(State())

  package init(_ report: @escaping @Sendable (TransferProgress) -> Void) {
    self.report = report
  }

  /// Reports the progress of a request's body, over all attempts to send it.
  package func followUpload(of request: inout WebRequest) {
    advance(to: 0, of: request.body.knownLength)
    request.progress = { [self] in advance(to: $0.sent, of: $0.totalToSend) }
  }

  /// Records the progress of the current attempt; attempts must not overlap.
  package func advance(to completed: Int64, of total: Int64?) {
    let progress = TransferProgress(completed: completed, total: total)
    if state.withLock({ $0.advance(progress) }) { report(progress) }
  }

  /// Reports once that the transfer is complete; without `total`, it uses the last known total.
  package func finish(_ total: Int64? = nil) {
    if let progress = state.withLock({ $0.finish(total) }) { report(progress) }
  }
}

extension WebRequestBody {
  /// The length of the body; `nil` for a file and for a stream without a length.
  fileprivate var knownLength: Int64? {
    switch self {
    case .empty: 0
    case .bytes(let data): Int64(data.count)
    case .file: nil
    case .stream(let length, _): length
    }
  }
}

import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes one account of progress out of those of several attempts.
///
/// A request that is sent again counts from nothing; that is not told until it is further than the
/// one before. The whole is told by ``finish(_:)`` only, since an attempt that has sent all of a
/// body may still be refused.
package final class TransferMeter: Sendable {
  private struct State {
    var latest = TransferProgress(completed: 0, total: nil)
    var told: TransferProgress?
    var fraction = 0.0
    var isFinished = false

    /// Whether this is to be told.
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

  /// Follows a request's body, in all the attempts to send it.
  package func followUpload(of request: inout HTTPRequest) {
    advance(to: 0, of: request.body.knownLength)
    request.progress = { [self] in advance(to: $0.sent, of: $0.totalToSend) }
  }

  /// Takes note of where an attempt is; attempts come one after the other.
  package func advance(to completed: Int64, of total: Int64?) {
    let progress = TransferProgress(completed: completed, total: total)
    if state.withLock({ $0.advance(progress) }) { report(progress) }
  }

  /// Tells that all is done, once; without a total it is what was last heard of.
  package func finish(_ total: Int64? = nil) {
    if let progress = state.withLock({ $0.finish(total) }) { report(progress) }
  }
}

extension HTTPRequestBody {
  /// The length, where it can be told without a look at a file.
  fileprivate var knownLength: Int64? {
    switch self {
    case .empty: 0
    case .bytes(let data): Int64(data.count)
    case .file: nil
    case .stream(let length, _): length
    }
  }
}

import SQBasics
import SequencingOAuth

/// A line on standard error that says why a command waits, after it has waited for a while.
///
/// Another program may hold the account for as long as that program's user takes to sign in.
final class WaitNotice: Sendable {
  /// The wait before the line is shown; a refresh by another program usually takes less time.
  private static let patience = Duration.seconds(2)

  private let errors: TextStream
  private let waits = Locked<Set<UInt64>>([])

  init(_ errors: TextStream) { self.errors = errors }

  /// Notes the beginning and the end of each wait.
  func receive(_ event: ClientEvent) {
    guard case .leaseWait(let holder) = event.subject, let wait = event.operation else { return }
    guard event.phase == .begin else { return waits.withLock { _ = $0.remove(wait) } }
    waits.withLock { _ = $0.insert(wait) }
    Task {
      try await Task.sleep(for: Self.patience)
      guard waits.withLock({ $0.remove(wait) }) != nil else { return }
      tell(of: holder)
    }
  }

  private func tell(of holder: String?) {
    let program = holder.map { "Another program, \($0.onScreen)," } ?? "Another program"
    try? errors.write(
      "\(program) uses this account, perhaps to sign you in; waiting for it. Ctrl-C cancels.\n")
  }
}

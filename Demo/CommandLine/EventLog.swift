import SQFoundation
import SequencingOAuth

extension Option {
  static let verbose = Option(
    "--verbose",
    help: "Tell on standard error what the program does: each request, refresh, wait and call of "
      + "the store, without secrets.")
}

extension Console {
  /// Returns this console with an observer that prints each event of the SDK on standard error.
  ///
  /// A line begins with the time since the start of the program.
  var tellingEvents: Console {
    let start = Date()
    let errors = errors
    // Clear the current line first. It may show the progress of a command, such as the time left
    // for a code; the command draws that line again later.
    let canDraw = Appearance.canDraw(environment: ProcessInfo.processInfo.environment)
    let newLine = errors.isTerminal && canDraw ? "\r\u{1B}[K" : ""
    var console = self
    console.observer = ClientObserver { event in
      let time = Int((event.date.timeIntervalSince(start) * 1000).rounded())
      try? errors.write(newLine + "+\(time) ms \(event)".linesOnScreen + "\n")
    }
    return console
  }

  /// Returns this console with an observer that says on standard error why a command waits.
  var tellingWaits: Console {
    let notice = WaitNotice(errors)
    var console = self
    console.observer = ClientObserver { notice.receive($0) }
    return console
  }

  /// An SDK environment with this console's transport and observer, and the demo's landing page.
  var environment: ClientEnvironment {
    var environment = ClientEnvironment()
    environment.transport = network.transport
    environment.landingPage = .demo
    environment.observer = observer
    return environment
  }
}

import SQFoundation
import SequencingOAuth

/// The printed list of accounts, written one account at a time.
struct AccountList {
  private let store: StoreOptions
  private let console: Console
  private let printsJSON: Bool
  private let date = Date()
  /// Whether the list has no account yet.
  private(set) var isEmpty = true

  init(_ store: StoreOptions, _ console: Console, printsJSON: Bool) {
    self.store = store
    self.console = console
    self.printsJSON = printsJSON
  }

  mutating func add(_ record: AccountRecord) throws(Failure) {
    let report = AccountReport(record, in: store, at: date)
    if printsJSON {
      try write((isEmpty ? Self.jsonStart : ",") + (try oneLineOfJSON(report)))
    } else {
      try console.result((isEmpty ? "" : "\n") + report.text)
    }
    isEmpty = false
  }

  func end() throws(Failure) {
    if printsJSON {
      try write((isEmpty ? Self.jsonStart : "") + "]}\n")
    } else if isEmpty {
      try console.result("No account is kept.")
    }
  }

  private static let jsonStart = #"{"accounts":["#

  private func write(_ text: String) throws(Failure) {
    try console.content(Array(text.utf8))
  }
}

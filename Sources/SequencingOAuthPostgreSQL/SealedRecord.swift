import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A record as its row gets it.
struct SealedRecord: Redacted {
  let id: String
  let box: Data
  /// The name of the record's server, by which keepers pause.
  let server: Data
  /// The seconds until the token should be renewed; `nil` for never.
  let due: Double?

  init(_ record: AccountRecord, by sealer: RecordSealer) throws(SQOAuthError) {
    let now = Date()
    id = record.id
    box = try sealer.seal(record)
    server = ServerName(of: record).bytes
    due = record.dueDate(at: now, jitter: .random(in: 0...1))?.timeIntervalSince(now)
  }
}

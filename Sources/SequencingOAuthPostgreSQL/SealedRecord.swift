import SQBasics
import SQFoundation
import SequencingOAuth

/// An encrypted record, with the other values of its row.
struct SealedRecord: Redacted {
  let id: String
  let box: Data
  /// The key that encrypted the record.
  let key: AccountKeys.Name
  /// The name of the record's authorization server; an `AccountKeeper` can pause a server.
  let server: Data
  /// The digests that find the record by its user or session.
  let digests: SessionDigests
  /// The seconds until the token should be renewed; `nil` for never.
  let due: Double?

  /// Encrypts a record; `isRenewed` is `true` if the record may come from a renewal.
  init(
    _ record: AccountRecord, by key: AccountKeys.Opened, isRenewed: Bool
  ) throws(SQOAuthError) {
    let now = Date()
    id = record.id
    box = try key.sealer.seal(record)
    self.key = (key.number, key.sealer.header)
    digests = try key.sealer.digests(of: record)
    server = ServerName(of: record).bytes
    let jitter = Double.random(in: 0...1)
    let date =
      isRenewed
      ? record.dueDate(afterRenewalAt: now, jitter: jitter)
      : record.dueDate(at: now, jitter: jitter)
    due = date?.timeIntervalSince(now)
  }
}

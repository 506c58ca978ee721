import SequencingOAuth

extension RecordSealer {
  /// The digests by which a record is found.
  func digests(of record: AccountRecord) throws(SQOAuthError) -> SessionDigests {
    try SessionDigests(of: record) { name throws(SQOAuthError) in try digest(of: name) }
  }
}

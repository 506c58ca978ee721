import SequencingOAuth

extension TokenStore {
  /// Loads all records that can be read, and the ids and errors of the other accounts.
  ///
  /// One account that a later version of the program has stored must not hide the others.
  func readable() async throws(SQOAuthError) -> (
    records: [AccountRecord], others: [(id: String, error: SQOAuthError)]
  ) {
    var records: [AccountRecord] = []
    var others: [(id: String, error: SQOAuthError)] = []
    for try await entry in entries() {
      switch entry.record {
      case .success(let record): records.append(record)
      case .failure(let error): others.append((entry.id, error))
      }
    }
    return (records, others)
  }
}

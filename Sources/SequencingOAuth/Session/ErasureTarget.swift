/// What the repetition of a failed erasure may erase.
///
/// Another process may have signed a user in since the failure, and that sign-in must stay.
enum ErasureTarget: Sendable {
  /// A record with one of these tokens, because the server refused them.
  case tokens([SQToken])
  /// A record of a sign-in with one of these identifiers, or a record without an identifier.
  ///
  /// Every new sign-in has an identifier, so a record without one may be of the ended sign-in.
  case signIns([String])
  /// Any record, because it is not known which sign-in the erasure was to end.
  case any

  /// Returns whether the repetition may erase a record.
  func includes(_ record: AccountRecord) -> Bool {
    switch self {
    case .tokens(let tokens):
      return tokens.contains { $0.isSame(as: record.token) }
    case .signIns(let names):
      guard let session = record.session else { return true }
      return names.contains(session)
    case .any:
      return true
    }
  }
}

extension AccountRecord {
  /// Returns whether two records come from different sign-ins, perhaps of different users.
  ///
  /// Returns `false` if one of them does not identify its sign-in.
  func isOfAnotherSignIn(than other: AccountRecord) -> Bool {
    guard let session, let its = other.session else { return false }
    return session != its
  }
}

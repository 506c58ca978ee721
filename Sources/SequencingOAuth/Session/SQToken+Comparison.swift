extension SQToken {
  /// Whether a resource server and the token endpoint cannot tell this token from another.
  func isSame(as other: SQToken) -> Bool {
    accessToken == other.accessToken && refreshToken == other.refreshToken
  }

  /// Whether this token was issued after another one; `false` when that is not known.
  func isYounger(than other: SQToken) -> Bool {
    guard !isSame(as: other), let mine = issueDate, let its = other.issueDate else { return false }
    return mine > its
  }

  /// Whether this token was issued before another one; `true` when that is not known.
  func isOlder(than other: SQToken) -> Bool {
    if isSame(as: other) { return false }
    guard let mine = issueDate, let its = other.issueDate else { return true }
    return mine < its
  }
}

// Swift 6.3 ends with an internal error on some clauses of a `do` that calls what throws typed, unless
// its last `catch` has no condition. The article "Handling errors" teaches forms that have one.
extension SQOAuthError {
  /// Whether ``code`` is one of these: `error.is(.accessDenied, .cancelled)`.
  public func `is`(_ codes: Code...) -> Bool { codes.contains(code) }
}

extension SQOAuthError.Code {
  /// Matches an error that has this code, as in `catch SQOAuthError.Code.wrongPassphrase`.
  public static func ~= (code: Self, error: SQOAuthError) -> Bool { error.code == code }

  /// Matches any error that is an ``SQOAuthError`` with this code.
  ///
  /// A `catch` of a `do` whose calls throw different types needs it. An `SQOAuthError` that is the
  /// cause of another error, such as a ``PipeError``, is not matched.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? SQOAuthError)?.code == code
  }
}

// The compiler of Swift 6.3 reports an internal error for some `catch` clauses of a `do` with typed
// throws, unless the last `catch` has no condition. The article "Handling errors" therefore teaches
// forms that end in such a `catch`.
extension SQOAuthError {
  /// Returns whether ``code`` is one of the given codes, as in
  /// `error.is(.accessDenied, .cancelled)`.
  public func `is`(_ codes: Code...) -> Bool { codes.contains(code) }
}

extension SQOAuthError.Code {
  /// Matches an error with this code, as in `catch SQOAuthError.Code.wrongPassphrase`.
  public static func ~= (code: Self, error: SQOAuthError) -> Bool { error.code == code }

  /// Matches an ``SQOAuthError`` with this code if the error's static type is `any Error`.
  ///
  /// A `catch` uses it if the calls in its `do` throw different types. It does not look into
  /// causes: an `SQOAuthError` that is the cause of another error, such as a `PipeError`, does not
  /// match.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? SQOAuthError)?.code == code
  }
}

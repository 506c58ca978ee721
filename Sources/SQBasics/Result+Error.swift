extension Result {
  /// The error of a failure; `nil` for a success.
  package var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
